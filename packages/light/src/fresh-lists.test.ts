import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { freshLists } from "./fresh-lists.ts";

async function listen(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
}

test("a server of lists that redirects is not followed, and the key goes nowhere else", async (t) => {
  const seen: unknown[] = [];
  const other = await listen(t, (request, response) => {
    seen.push(request.headers["x-api-key"]);
    response.end();
  });
  for (const status of [301, 302, 303, 307, 308]) {
    const moved = await listen(t, (_, response) => {
      response.writeHead(status, { location: `${other}/lists` }).end();
    });
    const read = freshLists(`${moved}/lists`, "gp_live_of_the_test");
    await assert.rejects(read, new RegExp(`the server answers ${String(status)}`));
  }
  assert.deepEqual(seen, []);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { appWith } from "../../../test/http/http-app.ts";
import { addPocketPage } from "./pocket-page.ts";

const file = { body: Buffer.from([0x7b, 0x7d, 0x0a, 0xff]), etag: '"0123"' };

test("the pocket list needs no key, is cached, and is not sent again to who holds it", async (t) => {
  const app = await appWith({
    pages: async (scope): Promise<void> =>
      addPocketPage(scope, { pocket: { current: () => Promise.resolve(file) } }),
  });
  t.after(() => app.close());
  const whole = await app.inject("/feeds/pocket");
  assert.equal(whole.statusCode, 200);
  assert.deepEqual(whole.rawPayload, file.body);
  assert.equal(whole.headers["content-type"], "application/octet-stream");
  assert.equal(whole.headers["cache-control"], "public, max-age=300");
  const cases: readonly (readonly [held: string, status: number])[] = [
    ['"0123"', 304],
    ['W/"0123"', 304],
    ['"old", "0123"', 304],
    ["*", 304],
    ['"old"', 200],
    ["0123", 200],
  ];
  for (const [held, status] of cases) {
    const headers = { "if-none-match": held };
    const answer = await app.inject({ url: "/feeds/pocket", headers });
    assert.equal(answer.statusCode, status, held);
    assert.equal(answer.headers.etag, file.etag);
    assert.equal(answer.rawPayload.length, status === 304 ? 0 : 4);
  }
  const post = await app.inject({ url: "/feeds/pocket", method: "POST" });
  assert.equal(post.statusCode, 405);
});

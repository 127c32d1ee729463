import { strict as assert } from "node:assert";
import { test } from "node:test";
import { type BulkServer, bulkServer, sessionIn } from "../../../test/bulk/bulk-http.ts";
import { until } from "../../../test/time/until.ts";

const OWNER = { key: "a1" } as const;
const LIST = "bulk=1&email=B@x.example,nonsense,c.example,b@x.example";

async function synchronous(server: BulkServer, form = LIST): Promise<string> {
  return `/api/view/${sessionIn(await server.post("/api/email", form, OWNER))}`;
}

test("a session that breaks off in the middle breaks the answer and is logged once", async (t) => {
  const server = await bulkServer(t, {
    over: (bulk) => ({
      view: async (caller, session) => {
        const view = await bulk.view(caller, session);
        return view.kind === "list" ? { ...view, valid: brokenPages } : view;
      },
    }),
  });
  const view = await synchronous(server);
  await assert.rejects(server.ask(view, OWNER));
  assert.deepEqual(
    server.stores.log.lines.filter((line) => line.startsWith("error")),
    ["error http.body_failed"],
  );
});

async function* brokenPages(): AsyncGenerator<readonly string[]> {
  yield ["x".repeat(100_000)];
  await Promise.resolve();
  throw new Error("the session ended while it was read");
}

test("a slow reader holds back the pages behind it", async (t) => {
  let pages = 0;
  async function* endless(): AsyncGenerator<readonly string[]> {
    for (; pages < 2_000; pages += 1) yield [await Promise.resolve("x".repeat(65_536))];
  }
  const server = await bulkServer(t, {
    over: (bulk) => ({
      view: async (caller, session) => {
        const view = await bulk.view(caller, session);
        return view.kind === "list" ? { ...view, valid: endless } : view;
      },
    }),
  });
  const answer = await server.open(await synchronous(server), OWNER);
  // Without a reader, data fills the buffers of the sockets and stops.
  let before = -1;
  await until(async () => {
    if (pages === before) return true;
    before = pages;
    await new Promise((resolve) => setTimeout(resolve, 100));
    return undefined;
  });
  assert.ok(pages < 500, `${String(pages)} pages were made for a reader who took none`);
  await answer.body?.cancel();
});

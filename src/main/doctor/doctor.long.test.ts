import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { test, type TestContext } from "node:test";
import { startDnsServer } from "../../../test/dns/dns-server.ts";
import { withPostgres } from "../../../test/services/with-postgres.ts";
import { diagnose, examinePooler, examineWorkers } from "./diagnose.ts";
import { temporaryFolder } from "../../../test/process/temporary-folder.ts";

test("doctor: a resolver that denies every name is wrong, as the service finds it", async (t) => {
  const server = await startDnsServer({});
  t.after(() => server.close());
  const dataDir = temporaryFolder();
  const findings = await diagnose({
    GATEPOST_DATA_DIR: dataDir,
    GATEPOST_DNS_SERVERS: `127.0.0.1:${String(server.port)}`,
    GATEPOST_LISTS_REFRESH: "off",
  });
  const resolver = findings.find(({ name }) => name === "resolver");
  assert.equal(resolver?.state, "wrong");
  assert.match(resolver.says, /denies names that exist/);
  assert.match(
    resolver.toDo ?? "",
    /GATEPOST_DNS_SERVERS .* See docs\/operations\/troubleshooting\.md#resolver\.$/,
  );
  assert.equal(findings.find(({ name }) => name === "program")?.state, "ok");
});

/** Between a client and PostgreSQL: passes all on but notices, as a pooler in transaction mode does. */
async function poolerOf(t: TestContext, url: string): Promise<string> {
  const target = new URL(url);
  const port = Number(target.port);
  const pooler = createServer((client) => {
    const server = connect(port, target.hostname);
    client.pipe(server);
    let kept = Buffer.alloc(0);
    server.on("data", (data: Buffer) => {
      kept = Buffer.concat([kept, data]);
      while (kept.length >= 5 && kept.length > kept.readInt32BE(1)) {
        const message = kept.subarray(0, 1 + kept.readInt32BE(1));
        kept = kept.subarray(message.length);
        if (message[0] !== "A".charCodeAt(0)) client.write(message);
      }
    });
    for (const socket of [client, server]) {
      socket.on("error", () => undefined);
      socket.on("close", () => void (client.destroy(), server.destroy()));
    }
  }).listen(0, "127.0.0.1");
  t.after(() => pooler.close());
  await once(pooler, "listening");
  target.port = String((pooler.address() as AddressInfo).port);
  return target.href;
}

withPostgres("doctor: PostgreSQL", (postgres) => {
  test("doctor: sessions on PostgreSQL itself are fine, a pooler of transactions is found", async (t) => {
    const url = await postgres.database();
    assert.equal((await examinePooler(url)).state, "ok");
    const pooled = await examinePooler(await poolerOf(t, url));
    assert.equal(pooled.state, "wrong");
    assert.match(pooled.says, /pooler in transaction mode/);
  });

  for (const [seenMs, state] of [
    [undefined, "wrong"],
    [95_000, "ok"],
    [10_000, "wrong"],
  ] as const) {
    test(`doctor: workers seen at ${String(seenMs)} are ${state} at 100,000`, async (t) => {
      const { db, close } = await postgres.open(0);
      t.after(close);
      if (seenMs !== undefined) {
        const row = { worker: "w", entries_per_second: 1, seen_at_ms: seenMs };
        await db.insertInto("bulk_workers").values(row).execute();
      }
      assert.equal((await examineWorkers(db, 100_000)).state, state);
    });
  }
});

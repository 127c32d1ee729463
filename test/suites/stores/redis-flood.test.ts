import { strict as assert } from "node:assert";
import { test, type TestContext } from "node:test";
import { Redis } from "ioredis";
import { bucketKey } from "../../../src/service/admission/bucket.ts";
import { emptyRedis, linkProcess } from "../../contracts/process/redis-link.ts";
import { openStores } from "../../contracts/stores.ts";
import { withRedis } from "../../services/with-redis.ts";

const NETS = 4_096;
const NETS_IN_48 = 65_536;

/** What docs/operations/sizing.md counts for an owner, and all of a /48 at once. Octets. */
const OWNER_MAX = 640;
const FLOOD_MAX = 42_000_000;

const LIMITS = { ratePerMinute: 30, daily: 100, monthly: 1_000 };

/** An hour after its last request nothing of an owner is left; its rate is counted for less. */
const KEPT_MAX_MS = 3_600_000;

async function usedOctets(client: Redis): Promise<number> {
  const memory = await client.info("memory");
  return Number(/^used_memory:(\d+)/m.exec(memory)?.[1]);
}

async function flood(t: TestContext, url: string, client: Redis): Promise<void> {
  await emptyRedis(url);
  const stores = await openStores(t);
  const { link } = await linkProcess(t, url, stores);
  const nowMs = stores.clock.nowMs();
  const request = (net: number, host: number): Promise<unknown> =>
    link.requests.take(
      bucketKey(`2001:db8:1:${net.toString(16)}::${host.toString(16)}`),
      LIMITS,
      nowMs,
    );
  const before = await usedOctets(client);
  for (let net = 0; net < NETS; net += 64) {
    const nets = Array.from({ length: 64 }, (_, at) => net + at);
    await Promise.all(nets.flatMap((of) => [request(of, 1), request(of, 2), request(of, 0xbeef)]));
  }
  const octets = ((await usedOctets(client)) - before) / NETS;
  t.diagnostic(`${octets.toFixed(0)} octets for each /64`);
  assert.ok(octets <= OWNER_MAX, `${String(octets)} octets for each /64`);
  assert.ok(octets * NETS_IN_48 <= FLOOD_MAX);
  const keys = await client.keys("*:bucket:2001*");
  assert.equal(keys.length, 2 * NETS, "a rate and a count for each /64, whatever its hosts");
  const left = await Promise.all(keys.map((key) => client.pttl(key)));
  assert.ok(
    left.every((ms) => ms > 0 && ms <= KEPT_MAX_MS),
    "each ends by itself",
  );
}

withRedis("a flood from an IPv6 /48", (server) => {
  test("a flood from a whole IPv6 /48 takes at most 42 MB of Redis, and ends by itself", async (t) => {
    const { url } = server();
    const client = new Redis(url);
    try {
      await flood(t, url, client);
    } finally {
      client.disconnect();
    }
  });
});

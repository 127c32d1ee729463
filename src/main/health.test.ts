import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sql } from "kysely";
import { temporaryFolder } from "../../test/process/temporary-folder.ts";
import { openEmbedded } from "../store/database.ts";
import { ownDisk } from "../../test/process/own-disk.ts";
import { manualClock } from "../../test/time/manual-clock.ts";
import { DAY_MS } from "../core/calendar.ts";
import type { DnsStats } from "../dns/lookup.ts";
import type { TrustStats } from "../dns/trust/trust.ts";
import type { FeedStatus } from "../lists/feed-status.ts";
import {
  diskTrouble,
  dnsPart,
  dutiesPart,
  failedOpenPart,
  feedsTrouble,
  proxyPart,
  refusalsPart,
  webhooksTrouble,
} from "./health.ts";
import { nothingCounted } from "./metrics.ts";

const NOW_MS = Date.UTC(2026, 10, 20, 12);
const feed = (over: Partial<FeedStatus>): FeedStatus => ({
  id: "a",
  curated: true,
  names: 1,
  from: "fetch",
  ...over,
});
const REFUSED = { why: "not_fetched" } as const;

const feeds: readonly (readonly [
  what: string,
  feed: FeedStatus,
  says: RegExp | undefined,
  bornMs?: number,
])[] = [
  ["never asked for", feed({}), undefined],
  ["confirmed today", feed({ askedAtMs: NOW_MS, confirmedAtMs: NOW_MS }), undefined],
  [
    "refused since yesterday",
    feed({ askedAtMs: NOW_MS, confirmedAtMs: NOW_MS - DAY_MS, refusal: REFUSED }),
    undefined,
  ],
  [
    "never fetched by an installation of today",
    feed({ askedAtMs: NOW_MS, refusal: REFUSED }),
    undefined,
    NOW_MS - DAY_MS + 1,
  ],
  ["never fetched", feed({ askedAtMs: NOW_MS, refusal: REFUSED }), /1 of 1 .*\(not fetched\): a\./],
  [
    "refused for four days",
    feed({ askedAtMs: NOW_MS, confirmedAtMs: NOW_MS - 4 * DAY_MS, refusal: { why: "size_swing" } }),
    /\(size swing\)/,
  ],
  ["switched off", feed({ askedAtMs: 1, confirmedAtMs: 1, isOff: true }), undefined],
];

for (const [what, status, says, bornMs = 0] of feeds) {
  test(`health: a list ${what} is ${says === undefined ? "well" : "old"}`, () => {
    const trouble = feedsTrouble([status], { nowMs: NOW_MS, bornMs });
    if (says === undefined) assert.equal(trouble, undefined);
    else assert.match(trouble?.says ?? "", says);
  });
}

test("health: one request in ten of at least 100 refused is told for five minutes", async () => {
  const clock = manualClock();
  const counted = nothingCounted();
  const { look } = refusalsPart(counted, clock);
  const after = async (requests: number, refused: number) => {
    counted.requests += requests;
    counted.refused += refused;
    clock.advance(10_000);
    return (await look())?.says;
  };
  assert.equal(await after(99, 99), undefined);
  assert.equal(await after(10_000, 101), undefined);
  assert.equal(
    await after(0, 1_000),
    "1,200 of 10,099 requests of the last 5 minutes were refused.",
  );
  clock.advance(600_000);
  assert.equal(await after(1, 0), undefined);
});

test("health: a hook call that was let through is told", async () => {
  const counted = { ...nothingCounted(), hookCalls: 9 };
  const { look } = failedOpenPart(counted, manualClock());
  assert.equal(await look(), undefined);
  counted.hookCalls = 12;
  counted.failedOpen = 2;
  assert.match((await look())?.says ?? "", /^2 of 12 hook calls/);
});

test("health: requests through a proxy that nobody trusted are told, a header now and then is not", async () => {
  const counted = { ...nothingCounted(), requests: 1_000, forwarded: 99, proxy: "10.0.0.7" };
  const { look } = proxyPart(counted, manualClock());
  assert.equal(await look(), undefined);
  counted.forwarded = 200;
  assert.match(
    (await look())?.says ?? "",
    /through 10\.0\.0\.7, which GATEPOST_TRUST_PROXY does not/,
  );
});

test("health: a duty that changes hands is well, one that nobody takes is not", async () => {
  const clock = manualClock();
  let free: readonly string[] = ["list_refresh"];
  const { look } = dutiesPart(() => Promise.resolve(free), clock);
  assert.equal(await look(), undefined);
  free = [];
  clock.advance(10_000);
  await look();
  free = ["list_refresh"];
  clock.advance(10_000);
  assert.equal(await look(), undefined);
  clock.advance(15_000);
  assert.equal((await look())?.says, "No process does list refresh.");
});

const STATS = { tcpAlone: 0 } as DnsStats;
const TRUST = { distrusted: undefined, replacedByUnknown: 0, filteredToday: 0, invents: false };

const resolvers: readonly (readonly [
  what: string,
  stats: Partial<DnsStats>,
  trust: Partial<TrustStats>,
  says: RegExp | undefined,
])[] = [
  ["tells the truth", {}, {}, undefined],
  ["filters", {}, { filteredToday: 2 }, /^This resolver filters: it withheld 2 names today\./],
  ["withheld one name", {}, { filteredToday: 1 }, /withheld 1 name today/],
  ["is silent over UDP", { tcpAlone: 1 }, {}, /127\.0\.0\.1:53 answers over TCP alone/],
  ["filters over TCP", { tcpAlone: 1 }, { filteredToday: 1 }, /^This resolver filters/],
];

for (const [what, stats, trust, says] of resolvers) {
  test(`health: a resolver that ${what} ${says === undefined ? "is well" : "is a warning"}`, async () => {
    const figures = { clients: { bulk: { ...STATS, ...stats } }, trust: { ...TRUST, ...trust } };
    const { look } = dnsPart(
      { dnsServers: [{ host: "127.0.0.1", port: 53 }] },
      {
        trust: undefined,
        dnsAnswers: () => Promise.resolve(true),
        dnsFigures: () => [undefined, figures],
      },
    );
    const trouble = await look();
    if (says === undefined) return assert.equal(trouble, undefined);
    assert.match(trouble?.says ?? "", says);
    assert.equal(trouble?.isWarning, true);
  });
}

const deliveries: readonly (readonly [
  what: string,
  accounts: readonly string[],
  says: RegExp | undefined,
])[] = [
  ["none", [], undefined],
  ["two that failed", ["xx"], undefined],
  ["three that failed", ["xxx"], /^The webhook address of an account failed 3 times in a row/],
  ["a later one that was taken", ["oxxxx"], undefined],
  ["two accounts", ["xxxo", "xxx", "oxx"], /addresses of 2 accounts/],
];

for (const [what, accounts, says] of deliveries) {
  test(`health: webhooks: ${what}`, async () => {
    const { db, close } = await openEmbedded(temporaryFolder(), NOW_MS);
    const rows = accounts.flatMap((marks, account) =>
      marks.split("").map((mark, at) => ({
        id: `${String(account)} ${String(at)}`,
        account_id: String(account),
        event: "test.ping" as const,
        data: "{}",
        state: "done" as const,
        queued_at_ms: NOW_MS - at,
        error: mark === "x" ? "status 500" : null,
      })),
    );
    await sql`pragma foreign_keys = off`.execute(db); // there are no accounts
    if (rows.length > 0)
      await db
        .insertInto("webhook_deliveries")
        .values(rows as never)
        .execute();
    const trouble = await webhooksTrouble(db, NOW_MS);
    if (says === undefined) assert.equal(trouble, undefined);
    else assert.match(trouble?.says ?? "", says);
    assert.equal(await webhooksTrouble(db, NOW_MS + 3_600_001), undefined);
    await close();
  });
}

const disks: readonly (readonly [
  what: string,
  options: string,
  fill: number,
  says: RegExp | undefined,
])[] = [
  ["with room", "size=400m", 0, undefined],
  ["nearly full", "size=400m", 390, /nearly full: 10 MB are free/],
  ["full", "size=20m", 15, /is full: 5 MB are free/],
  ["read-only", "size=400m,ro", 0, /the file system is read-only/],
];

for (const [what, options, fill, says] of disks) {
  test(`health: a disk that is ${what}`, async (t) => {
    const disk = ownDisk(options);
    if (disk === undefined) return t.skip("needs the right to mount");
    t.after(() => disk.end());
    if (fill > 0) writeFileSync(join(disk.folder, "filler"), Buffer.alloc(fill * 1_048_576));
    const trouble = await diskTrouble(disk.folder);
    if (says === undefined) assert.equal(trouble, undefined);
    else assert.match(trouble?.says ?? "", says);
    assert.equal(trouble?.isWarning, what === "nearly full" ? true : undefined);
  });
}

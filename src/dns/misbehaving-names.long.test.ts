import { strict as assert } from "node:assert";
import { after, before, suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { dnsClient } from "../../test/dns/dns-client.ts";
import { type DnsServer, startDnsServer } from "../../test/dns/dns-server.ts";
import type { ServedName, ServedZone } from "../../test/dns/dns-zone.ts";
import { turningClock } from "../../test/time/turning-clock.ts";
import type { Answer, UnknownReason } from "../core/mail/lookup.ts";
import type { DnsLookup } from "./lookup.ts";

const GOOD: ServedName = { mx: ["10 mx.example"] };
const FOUND = [{ preference: 10, host: "mx.example" }];
const LONG_TEXT = "x".repeat(60_000);
const MANY_MX = Array.from({ length: 250 }, (_, index) => `${index} mx${index}.example`);
const TOO_MANY_MX = Array.from({ length: 3_000 }, (_, index) => `${index} mx${index}.example`);

type Want = "found" | "noName" | "noData" | UnknownReason;

/** What each name does, and what the client makes of it. */
const WORLD: Readonly<
  Record<string, readonly [does: string, served: ServedName | undefined, want: Want]>
> = {
  "good.example": ["answers", GOOD, "found"],
  "none.example": ["does not exist", undefined, "noName"],
  "empty.example": ["has no MX", { a: ["192.0.2.1"] }, "noData"],
  "servfail.example": ["answers SERVFAIL", { behave: "servfail" }, "servfail"],
  "refused.example": ["answers REFUSED", { behave: "refused" }, "refused"],
  "referral.example": ["sends us elsewhere", { ...GOOD, behave: "referral" }, "refused"],
  "silent.example": ["is silent", { behave: "silent" }, "timeout"],
  "flaky.example": [
    "is silent twice, then answers",
    { ...GOOD, behave: "silent", times: 2 },
    "found",
  ],
  "slow.example": ["takes 900 ms", { ...GOOD, delayMs: 900 }, "found"],
  "slower.example": ["takes 6 s", { ...GOOD, delayMs: 6_000 }, "timeout"],
  "id.example": ["answers with another id by UDP", { ...GOOD, behave: "wrongId" }, "found"],
  "question.example": [
    "answers another question by UDP",
    { ...GOOD, behave: "wrongQuestion" },
    "found",
  ],
  "forged.example": ["is answered by forgers first", { ...GOOD, behave: "forgedFirst" }, "found"],
  "twice.example": ["answers twice", { ...GOOD, behave: "twice" }, "found"],
  "garbage.example": ["answers garbage", { behave: "garbage" }, "timeout"],
  "short.example": ["answers with half a record", { ...GOOD, behave: "cutShort" }, "malformed"],
  "loop.example": ["answers with a pointer loop", { behave: "pointerLoop" }, "malformed"],
  "chain.example": [
    "answers with a chain of 400 pointers",
    { behave: "pointerChain" },
    "malformed",
  ],
  "formerr.example": ["answers FORMERR to everything", { behave: "formErr" }, "malformed"],
  "noedns.example": ["answers FORMERR to EDNS", { ...GOOD, behave: "formErrOnEdns" }, "found"],
  "bare.example": [
    "answers FORMERR without a question",
    { ...GOOD, behave: "bareFormErrOnEdns" },
    "found",
  ],
  "notimp.example": ["answers NOTIMP to EDNS", { ...GOOD, behave: "notImpOnEdns" }, "found"],
  "barenotimp.example": [
    "answers NOTIMP without a question",
    { ...GOOD, behave: "bareNotImpOnEdns" },
    "found",
  ],
  "badvers.example": ["answers BADVERS to EDNS", { ...GOOD, behave: "badVersOnEdns" }, "found"],
  "onlybadvers.example": ["answers BADVERS to everything", { behave: "badVers" }, "malformed"],
  "noopt.example": ["is silent to EDNS", { ...GOOD, behave: "silentOnEdns" }, "found"],
  "case.example": ["changes the case of the question", { ...GOOD, behave: "otherCase" }, "found"],
  "cut.example": ["truncates by UDP", { ...GOOD, behave: "truncated" }, "found"],
  "many.example": ["has 250 MX", { mx: MANY_MX }, "found"],
  "toomany.example": ["has 3,000 MX", { mx: TOO_MANY_MX }, "found"],
  "tcpsilent.example": [
    "truncates and is silent by TCP",
    { ...GOOD, behave: "truncatedTcpSilent" },
    "timeout",
  ],
  "tcpclose.example": [
    "truncates and closes TCP",
    { ...GOOD, behave: "truncatedTcpClose" },
    "network",
  ],
  "tcptwice.example": ["truncates by TCP too", { ...GOOD, behave: "truncatedTwice" }, "malformed"],
  "circle.example": ["is an alias in a circle", { cname: "round.example" }, "malformed"],
  "round.example": ["is the rest of the circle", { cname: "circle.example" }, "malformed"],
  "lazycircle.example": [
    "is an alias in a circle told piece by piece",
    { cname: "lazyround.example", lazyAlias: true },
    "malformed",
  ],
  "lazyround.example": [
    "is the rest of that circle",
    { cname: "lazycircle.example", lazyAlias: true },
    "malformed",
  ],
  "alias.example": ["is an alias", { cname: "good.example" }, "found"],
  "lazy.example": [
    "is an alias told without its end",
    { cname: "good.example", lazyAlias: true },
    "found",
  ],
  "lazysilent.example": [
    "is such an alias to silence",
    { cname: "silent.example", lazyAlias: true },
    "timeout",
  ],
  "lazynone.example": [
    "is such an alias to nothing",
    { cname: "none.example", lazyAlias: true },
    "noName",
  ],
};

const zone: ServedZone = {
  ...Object.fromEntries(
    Object.entries(WORLD).flatMap(([name, [, served]]) =>
      served === undefined ? [] : [[name, served]],
    ),
  ),
  "drip.example": { ...GOOD, behave: "truncatedTcpDrip" },
  "text.example": { txt: [LONG_TEXT], txtStrings: [["v=spf1 ", "-all"]] },
  "host.example": { a: ["192.0.2.1"], aaaa: ["2001:db8::1"] },
};

const wordOf = (answer: Answer<unknown>): Want => (answer.kind === "found" ? "found" : answer.why);

suite("a world of misbehaving names", () => {
  const { clock, stop } = turningClock(20);
  let server: DnsServer;
  let lookup: DnsLookup;
  before(async () => {
    server = await startDnsServer(zone, {}, clock);
    lookup = dnsClient([server], { clock });
  });
  after(async () => {
    stop();
    lookup.close();
    await server.close();
  });

  test("every name gets its right answer or unknown within 5 s, and others never wait for it", async () => {
    const other = await startDnsServer(
      Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`n${index}.example`, GOOD])),
    );
    const otherClient = dnsClient([other], { clock });
    let isOver = false;
    /** How long, by the clock, the slowest check of somebody else took. */
    const others = async (): Promise<number> => {
      let slowestMs = 0;
      for (let checks = 0; !isOver && checks < 2_000; checks += 1) {
        const askedMs = clock.monotonicMs();
        assert.equal((await otherClient.mx(`n${checks}.example`)).kind, "found");
        slowestMs = Math.max(slowestMs, clock.monotonicMs() - askedMs);
        await sleep(2);
      }
      return slowestMs;
    };
    const bystander = others();
    const startedMs = clock.monotonicMs();
    const dripped = dnsClient([server], { clock }); // with a connection that nobody else waits for
    const drip = dripped.mx("drip.example");
    const told = await Promise.all(
      Object.entries(WORLD).map(async ([name, [does, , want]]) => {
        const answer = await lookup.mx(name);
        return { name, does, want, is: wordOf(answer), ms: clock.monotonicMs() - startedMs };
      }),
    );
    const dripWord = wordOf(await drip);
    const dripMs = clock.monotonicMs() - startedMs;
    dripped.close();
    isOver = true;
    const slowestMs = await bystander;
    otherClient.close();
    await other.close();
    for (const { name, does, want, is, ms } of told) {
      assert.equal(is, want, `${name} ${does}`);
      assert.ok(ms < 5_000, `${name} ${does}: ${ms} ms`);
    }
    assert.equal(dripWord, "timeout", "an answer that drips in by TCP is given up");
    assert.ok(dripMs < 5_000, `${dripMs} ms`);
    assert.ok(slowestMs < 400, `another check took ${slowestMs} ms, a retry`);
  });

  test("60 KB of TXT come whole and of many MX those that are tried, by TCP", async () => {
    const text = await lookup.txt("text.example");
    assert.deepEqual(text.kind === "found" && text.records, [LONG_TEXT, "v=spf1 -all"]);
    const many = await lookup.mx("many.example");
    assert.equal(many.kind === "found" && many.records.length, 20);
    assert.ok(server.asked.includes("tcp TXT text.example"));
  });

  test("every address is of both kinds, and MX hosts come as the literal has them", async () => {
    const addresses = await lookup.everyAddress("host.example");
    assert.deepEqual(addresses.kind === "found" && addresses.records, ["192.0.2.1", "2001:db8::1"]);
    const mx = await lookup.mx("good.example");
    assert.deepEqual(mx.kind === "found" && mx.records, FOUND);
  });

  test("names that cannot be in DNS do not exist, and nobody is asked", async () => {
    const before = server.asked.length;
    for (const name of [
      "a..example",
      `${"a".repeat(64)}.example`,
      `_dmarc.${"a.".repeat(125)}example`,
    ]) {
      assert.equal(wordOf(await lookup.txt(name)), "noName");
    }
    assert.equal(server.asked.length, before);
  });

  test("the counters tell what happened", () => {
    const { queries, truncated, recovered, strays, unknown, unsettled } = lookup.stats();
    assert.ok(
      queries > 40 && truncated >= 6 && recovered >= 2 && strays >= 5,
      `${queries} queries`,
    );
    assert.ok(unknown.timeout >= 5 && unknown.malformed >= 5 && unknown.network === 1);
    assert.equal(unsettled, 0);
  });
});

import { strict as assert } from "node:assert";
import { networkInterfaces } from "node:os";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { dnsClient } from "../../test/dns/dns-client.ts";
import { type DnsServer, startDnsServer } from "../../test/dns/dns-server.ts";
import type { ServedName, ServedZone } from "../../test/dns/dns-zone.ts";
import { type ManualClock, manualClock } from "../../test/time/manual-clock.ts";
import { testWith } from "../../test/process/require-tool.ts";
import { freePort } from "../../test/services/free-port.ts";
import { until } from "../../test/time/until.ts";
import type { Answer, UnknownReason } from "../core/mail/lookup.ts";
import type { DnsLookup } from "./lookup.ts";

const GOOD: ServedName = { mx: ["10 mx.example"] };

const LONG_TEXT = "x".repeat(60_000);

type Want = "found" | "noName" | "noData" | UnknownReason;

const wordOf = (answer: Answer<unknown>): Want => (answer.kind === "found" ? "found" : answer.why);

/**
 * Lets real packets travel and the manual hands move step by step until `isOver`; returns how far. Steps are short,
 * so that a packet may need dozens of turns of the loop and is not late by the manual clock.
 */
async function turn(clock: ManualClock, isOver: () => boolean, stepMs = 5): Promise<number> {
  const startMs = clock.monotonicMs();
  for (; !isOver() && clock.monotonicMs() - startMs < 6_000; clock.advance(stepMs)) await sleep(1);
  return clock.monotonicMs() - startMs;
}

/** Asks for an MX and turns the clock until there is an answer. */
async function ask(
  lookup: DnsLookup,
  clock: ManualClock,
  name: string,
): Promise<readonly [Want, number]> {
  let answer: Answer<unknown> | undefined;
  void Promise.resolve(lookup.mx(name)).then((given) => (answer = given));
  const tookMs = await turn(clock, () => answer !== undefined);
  assert.ok(answer !== undefined, "no answer");
  return [wordOf(answer), tookMs];
}

/** What of names a server was asked by UDP, the root left out; before a question is unknown it is asked by TCP, too. */
const byUdp = ({ asked }: Pick<DnsServer, "asked">): number =>
  asked.filter((question) => !/^(?:tcp|NS) /.test(question)).length;

const profiles = [
  ["interactive", 2_600, [400, 1_000, 1_700]],
  ["bulk", 3_000, [700, 1_400, 2_200]],
  ["again", 400, []],
  ["probe", 1_600, [250, 600, 1_050]],
] as const;

for (const [profile, totalMs, retriesMs] of profiles) {
  test(`${profile}: a silent name is asked for ${retriesMs.length + 1} times and unknown after ${totalMs} ms`, async () => {
    const server = await startDnsServer({ "silent.example": { behave: "silent" } });
    const clock = manualClock();
    const lookup = dnsClient([server], { clock, profile });
    const started = clock.monotonicMs();
    const seen: number[] = [];
    let answer: Answer<unknown> | undefined;
    void Promise.resolve(lookup.mx("silent.example")).then((given) => (answer = given));
    const tookMs = await turn(clock, () => {
      while (seen.length < byUdp(server)) seen.push(clock.monotonicMs() - started);
      return answer !== undefined;
    });
    assert.equal(answer && wordOf(answer), "timeout");
    assert.ok(tookMs >= totalMs && tookMs <= totalMs + 100, `${tookMs} ms`);
    assert.equal(seen.length, 1 + retriesMs.length);
    for (const [index, wantMs] of [0, ...retriesMs].entries()) {
      const ms = seen[index] ?? NaN;
      assert.ok(ms >= wantMs && ms <= wantMs + 200, `try ${index + 1} at ${ms} ms`);
    }
    await until(() => server.asked.includes("tcp MX silent.example"), { what: "TCP" });
    lookup.close();
    await server.close();
  });
}

suite("with two servers", () => {
  const cases: readonly (readonly [string, ServedName, ServedName, Want, number, number])[] = [
    [
      "SERVFAIL is asked once on the other, which answers",
      { behave: "servfail" },
      GOOD,
      "found",
      1,
      1,
    ],
    [
      "REFUSED is asked once on the other, which answers",
      { behave: "refused" },
      GOOD,
      "found",
      1,
      1,
    ],
    [
      "SERVFAIL of both is unknown after one question each",
      { behave: "servfail" },
      { behave: "servfail" },
      "servfail",
      1,
      1,
    ],
    ["garbage is asked once on the other", { behave: "cutShort", ...GOOD }, GOOD, "found", 1, 1],
    [
      "NXDOMAIN is an answer, and the other is not asked",
      { behave: "twice", a: [] },
      GOOD,
      "noData",
      1,
      0,
    ],
    [
      "silence makes the tries alternate",
      { behave: "silent" },
      { behave: "silent" },
      "timeout",
      2,
      2,
    ],
  ];
  for (const [name, atFirst, atSecond, want, askedFirst, askedSecond] of cases) {
    test(name, async () => {
      const first = await startDnsServer({ "a.example": atFirst });
      const second = await startDnsServer({ "a.example": atSecond });
      const clock = manualClock();
      const lookup = dnsClient([first, second], { clock });
      const [is] = await ask(lookup, clock, "a.example");
      lookup.close();
      await Promise.all([first.close(), second.close()]);
      assert.equal(is, want);
      assert.deepEqual([byUdp(first), byUdp(second)], [askedFirst, askedSecond]);
    });
  }

  test("a server that has been silent eight times is not the first to be asked any more", async () => {
    const zoneOf = (served: ServedName): ServedZone =>
      Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`n${index}.example`, served]));
    const dead = await startDnsServer(zoneOf({ behave: "silent" }));
    const live = await startDnsServer(zoneOf(GOOD));
    const clock = manualClock();
    const lookup = dnsClient([dead, live], { clock });
    for (let index = 0; index < 8; index += 1) {
      assert.equal((await ask(lookup, clock, `n${index}.example`))[0], "found");
    }
    const before = dead.asked.length;
    for (let index = 8; index < 20; index += 1) {
      const [is, tookMs] = await ask(lookup, clock, `n${index}.example`);
      assert.equal(is, "found");
      assert.ok(tookMs < 300, `${tookMs} ms`);
    }
    assert.equal(dead.asked.length, before);
    lookup.close();
    await Promise.all([dead.close(), live.close()]);
  });

  test("nobody at one address (ECONNREFUSED) leads to the other at once", async () => {
    const live = await startDnsServer({ "a.example": GOOD });
    const lookup = dnsClient([{ host: "127.0.0.1", port: await freePort() }, live], {
      clock: manualClock(), // stands still: only the refusal itself can lead on
    });
    assert.equal(wordOf(await lookup.mx("a.example")), "found");
    lookup.close();
    await live.close();
  });
});

test("nobody at the only address is unknown, and for the right reason", async () => {
  const clock = manualClock();
  const lookup = dnsClient([{ host: "127.0.0.1", port: await freePort() }], { clock });
  const [is, tookMs] = await ask(lookup, clock, "a.example");
  assert.equal(is, "network");
  assert.ok(tookMs <= 2_700, `${tookMs} ms`);
  assert.equal(await lookupProbe(lookup, clock), false);
  lookup.close();
});

async function lookupProbe(lookup: DnsLookup, clock: ManualClock): Promise<boolean> {
  let isReady: boolean | undefined;
  void lookup.probe().then((ready) => (isReady = ready));
  await turn(clock, () => isReady !== undefined);
  return isReady === true;
}

test("the probe is content with any well-formed response", async () => {
  const server = await startDnsServer({ "": { behave: "refused" } });
  const lookup = dnsClient([server], { clock: manualClock() });
  assert.equal(await lookup.probe(), true);
  lookup.close();
  await server.close();
});

const here = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
const withoutIpv6 = here.some(({ address }) => address === "::1") ? [] : ["IPv6 on loopback"];

testWith(["IPv6"], withoutIpv6, "a server on IPv6 is asked like any other", async () => {
  const server = await startDnsServer({ "a.example": { txt: [LONG_TEXT] } }, { host: "::1" });
  const lookup = dnsClient([server], { clock: manualClock() });
  assert.equal((await lookup.txt("a.example")).kind, "found");
  lookup.close();
  await server.close();
});

test("sockets are replaced on the way, and no question is lost by it", async () => {
  const server = await startDnsServer(
    Object.fromEntries(Array.from({ length: 17_000 }, (_, index) => [`n${index}.example`, GOOD])),
  );
  // No time passes: a question that is lost is asked for no second time.
  const lookup = dnsClient([server], { profile: "bulk", clock: manualClock() });
  let foundCount = 0;
  for (let index = 0; index < 17_000; index += 1) {
    await lookup.room();
    void Promise.resolve(lookup.mx(`n${index}.example`)).then(({ kind }) => {
      if (kind === "found") foundCount += 1;
    });
  }
  await until(() => foundCount === 17_000, { what: "every answer" });
  lookup.close();
  await server.close();
});

test("closing answers what is open, closes every socket, and later questions are unknown", async () => {
  const server = await startDnsServer({
    "silent.example": { behave: "silent" },
    "tcp.example": { ...GOOD, behave: "truncatedTcpSilent" },
  });
  const lookup = dnsClient([server], { clock: manualClock() });
  const open = ["silent.example", "tcp.example"].map(async (name) => lookup.mx(name));
  await until(() => server.asked.includes("tcp MX tcp.example"));
  lookup.close();
  assert.deepEqual((await Promise.all(open)).map(wordOf), ["deadline", "deadline"]);
  assert.equal(wordOf(await lookup.mx("late.example")), "deadline");
  assert.equal(lookup.stats().unsettled, 0);
  await server.close();
  const isLeft = (kind: string): boolean => /UDP|TCP/i.test(kind);
  await until(() => !process.getActiveResourcesInfo().some(isLeft), { what: "no socket" });
});

test("an interactive question that finds no place within 2 s is unknown", async () => {
  const names = Array.from({ length: 100 }, (_, index) => `q${index}.silent.example`);
  const silent: ServedName = { behave: "silent" };
  const server = await startDnsServer(Object.fromEntries(names.map((name) => [name, silent])));
  const clock = manualClock();
  const lookup = dnsClient([server], { clock, windowMax: 2 });
  // Two places, each kept for 400 ms and more: some ten of a hundred get one in 2 s.
  const answers = names.map(async (name) => lookup.mx(name));
  let told: readonly Answer<unknown>[] | undefined;
  void Promise.all(answers).then((all) => (told = all));
  const tookMs = await turn(clock, () => told !== undefined);
  const deadlines = told?.filter((answer) => wordOf(answer) === "deadline").length ?? 0;
  assert.ok(deadlines > 50 && deadlines < 100, `${deadlines} of 100`);
  assert.ok(tookMs < 5_000, `${tookMs} ms`);
  lookup.close();
  await server.close();
});

test("where UDP is silent and TCP answers, names are found by TCP, which is asked first from then on", async () => {
  const names = Array.from({ length: 12 }, (_, at) => `n${String(at)}.example`);
  const zone = Object.fromEntries(
    names.map((name) => [name, { ...GOOD, behave: "silentUdp" as const }]),
  );
  const server = await startDnsServer({ ...zone, "back.example": GOOD });
  const clock = manualClock();
  const lookup = dnsClient([server], { clock });
  const timesMs: number[] = [];
  for (const name of names) {
    const startMs = clock.monotonicMs();
    let answer: Answer<unknown> | undefined;
    void Promise.resolve(lookup.mx(name)).then((given) => (answer = given));
    await turn(clock, () => answer !== undefined);
    assert.equal(answer?.kind, "found", name);
    timesMs.push(clock.monotonicMs() - startMs);
  }
  assert.ok(
    timesMs.slice(8).every((ms) => ms < 400),
    timesMs.join(" "),
  );
  assert.equal(lookup.stats().tcpAlone, 1);
  clock.advance(60_000);
  assert.equal((await lookup.mx("back.example")).kind, "found");
  assert.equal(lookup.stats().tcpAlone, 0, "UDP answers again");
  lookup.close();
  await server.close();
});

test("a list's resolver is silent when nothing is answered for 2.8 s, the root included, and not for dead names", async (t) => {
  const server = await startDnsServer({ "dead.example": { behave: "silent" }, "": GOOD });
  t.after(() => server.close());
  const clock = manualClock();
  const lookup = dnsClient([server], { clock, profile: "bulk" });
  t.after(() => lookup.close());
  assert.equal((await ask(lookup, clock, "dead.example"))[0], "timeout");
  assert.equal(lookup.stats().silentMs, 0, "the root was answered");
  assert.ok(server.asked.includes("NS "));
  const speak = server.mute();
  assert.equal((await ask(lookup, clock, "n1.example"))[0], "timeout");
  const heard = lookup.stats().silentMs;
  assert.ok(heard > 0 && heard < 1_000, String(heard));
  await turn(clock, () => lookup.stats().unsettled === 0);
  const before = lookup.stats().silentMs;
  speak();
  assert.equal((await ask(lookup, clock, "n2.example"))[0], "noName");
  const { silentMs } = lookup.stats();
  assert.ok(silentMs > before, "it went on while nobody asked");
  assert.equal((await ask(lookup, clock, "dead.example"))[0], "timeout");
  assert.equal(lookup.stats().silentMs, silentMs);
});

test("what was sent for 2 s without an answer was silence, though its process was late to read the answers before it", async (t) => {
  const names = Object.fromEntries(["early", "late"].map((word) => [`${word}.example`, GOOD]));
  const server = await startDnsServer({ ...names, "": GOOD });
  t.after(() => server.close());
  const clock = manualClock();
  const lookup = dnsClient([server], { clock, profile: "bulk" });
  t.after(() => lookup.close());
  const release = server.hold((name) => name === "early.example");
  const early = ask(lookup, clock, "early.example");
  await turn(clock, () => server.asked.length > 0);
  const speak = server.mute();
  const startMs = clock.monotonicMs();
  const late = ask(lookup, clock, "late.example");
  await turn(clock, () => clock.monotonicMs() - startMs >= 1_000);
  release(); // sent before the silence, read in its middle
  await early;
  await turn(clock, () => clock.monotonicMs() - startMs >= 2_600);
  speak();
  await late;
  assert.equal((await ask(lookup, clock, "after.example"))[0], "noName");
  assert.ok(lookup.stats().silentMs > 0);
});

test("of 400 names at a resolver that loses half, or forges every second id, none is unknown", async () => {
  for (const behave of ["silentUdp", "wrongId"] as const) {
    let seed = 7;
    const lot = (): number => (seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
    const names = Array.from({ length: 400 }, (_, at) => `n${String(at)}.example`);
    const times = (): number => {
      let lost = 0;
      while (lot() < 0.5) lost += 1;
      return lost;
    };
    const zone = Object.fromEntries(
      names.map((name) => [name, { ...GOOD, behave, times: times() }]),
    );
    const server = await startDnsServer(zone);
    const clock = manualClock();
    const lookup = dnsClient([server], { clock, profile: "bulk" });
    let [found, ended] = [0, 0];
    for (const name of names) {
      void Promise.resolve(lookup.mx(name)).then(({ kind }) => {
        ended += 1;
        if (kind === "found") found += 1;
      });
    }
    await turn(clock, () => ended === names.length);
    assert.equal(found, names.length, behave);
    lookup.close();
    await server.close();
  }
});

import { strict as assert } from "node:assert";
import { test } from "node:test";
import { SimulatedClock } from "../../../test/dns/simulated-network.ts";
import type { Log } from "../../base/log.ts";
import type { LookupOutcome } from "../cache.ts";
import type { Question, Reply } from "../message/wire.ts";
import type { Resolver } from "../resolver.ts";
import type { ResolverStats } from "../query.ts";
import { BUILT_IN_CANARIES, namedCanaries, Trust } from "./trust.ts";

type Say = (name: string, type: number) => Reply<unknown>;

const A = 1;
const found = { kind: "found", records: [{}], ttlSeconds: 60 } as const;
const noName = { kind: "absent", why: "noName", ttlSeconds: 60 } as const;
const noData = { kind: "absent", why: "noData", ttlSeconds: 60 } as const;
const servfail = { kind: "unknown", why: "servfail" } as const;
const refused = { kind: "unknown", why: "refused" } as const;
const silent = { kind: "unknown", why: "timeout" } as const;

const CANARIES = ["", "com", "gmail.com", "outlook.com", "yahoo.com", "icloud.com", "qq.com"];
const honest: Say = (name) => (CANARIES.includes(name) || name === "there.net" ? found : noName);
const denies: Say = () => noName;
const empty: Say = () => noData;
const portal: Say = (_name, type) => (type === A ? found : noData);
const everything: Say = () => found;

/** A resolver that answers 10 ms later, and a world around it in simulated time. */
function world(first: Say, canaries = BUILT_IN_CANARIES) {
  const clock = new SimulatedClock();
  let say = first;
  let asked = 0;
  const lines: string[] = [];
  const resolver: Resolver = {
    ask<T>({ name, kind }: Question<T>, done: (reply: Reply<T>, spentMs: number) => void) {
      asked += 1;
      clock.after(10, () => done(say(name, kind.type) as Reply<T>, 10));
    },
    room: () => undefined,
    stats: () => ({}) as ResolverStats,
    close: () => undefined,
  };
  const note = (event: string): void => void lines.push(event);
  const log: Log = { info: note, warn: note, error: note };
  const random = (count: number): Uint8Array => new Uint8Array(count).fill(7);
  const trust = new Trust({ resolver, random, clock, log, servers: "192.0.2.53", canaries });
  /** Lets simulated time pass, promises settling on the way. */
  const pass = async (milliseconds: number): Promise<void> => {
    const untilMs = clock.monotonicMs() + milliseconds;
    clock.after(milliseconds, () => undefined);
    while (clock.monotonicMs() < untilMs) {
      for (let turn = 0; turn < 30; turn += 1) await Promise.resolve();
      const stepMs = Math.min(untilMs, clock.monotonicMs() + 5);
      clock.after(stepMs - clock.monotonicMs(), () => undefined);
      clock.run(() => false, stepMs);
    }
    for (let turn = 0; turn < 30; turn += 1) await Promise.resolve();
  };
  /** What comes of the server's answer about `name`. */
  const check = async (name: string): Promise<LookupOutcome<unknown>["kind"]> => {
    const reply = say(name, 15) as LookupOutcome<unknown>;
    if (reply.kind === "found") trust.learn(name);
    let told: LookupOutcome<unknown> | undefined;
    trust.examine(name, reply, (outcome) => (told = outcome));
    await pass(1_100);
    assert.ok(told !== undefined, "no outcome within 1.1 s");
    return told.kind;
  };
  const use = (next: Say): void => void (say = next);
  return { trust, check, pass, use, lines, asked: () => asked };
}

const liars: readonly (readonly [does: string, say: Say, reason: string])[] = [
  ["denies every name", denies, "denies"],
  [
    "knows the root and com alone",
    (name) => (name === "" || name === "com" ? found : noName),
    "filters",
  ],
  ["has an empty answer for every name", empty, "empty"],
  ["gives an address for every name", portal, "wildcard"],
  ["answers SERVFAIL to everything", () => servfail, "servfail"],
  ["refuses everything", () => refused, "refused"],
];

for (const [does, say, reason] of liars) {
  test(`a resolver that ${does} from the start is never believed a "no", and is suspect after 5 s`, async () => {
    const { trust, check, pass, lines } = world(say);
    trust.start();
    assert.equal(await check("gmail.com"), "unknown");
    assert.equal(await check("shop.net"), "unknown");
    await pass(6_000);
    assert.equal(trust.distrusted, reason);
    assert.equal(await trust.answers(), false);
    assert.deepEqual(lines, ["dns.suspect"]);
    trust.close();
  });

  test(`a resolver that turns bad and ${does} is suspect soon, and trusted again after two good rounds`, async () => {
    const { trust, check, pass, use, lines } = world(honest);
    trust.start();
    await pass(100);
    assert.equal(await check("there.net"), "found");
    assert.equal(await check("gone.net"), "absent");
    use(say);
    assert.equal(await check("gone.net"), "unknown");
    assert.equal(await check("gone.example"), "unknown");
    await pass(3_000);
    assert.equal(trust.distrusted, reason);
    use(honest);
    assert.equal(trust.distrusted, reason);
    await pass(5_000);
    assert.equal(trust.distrusted, undefined);
    assert.equal(await check("gone.net"), "absent");
    assert.deepEqual(lines, ["dns.suspect", "dns.trusted_again"]);
    trust.close();
  });
}

test("a resolver that invents addresses for names that do not exist is told, a test server is not", async () => {
  const invents: Say = (name, type) => (type === A ? found : honest(name, type));
  for (const [say, is] of [
    [honest, false],
    [invents, true],
    [everything, false],
  ] as const) {
    const { trust, pass, use } = world(say);
    trust.start();
    await pass(1_000);
    assert.equal(trust.stats().invents, is);
    assert.equal(trust.distrusted, undefined);
    use(honest);
    await Promise.all([trust.round(), pass(1_000)]);
    assert.equal(trust.stats().invents, false);
    trust.close();
  }
});

const closed: readonly (readonly [does: string, others: Reply<unknown>])[] = [
  ["denies other names", noName],
  ["has nothing for other names", noData],
  ["refuses other names", refused],
  ["answers SERVFAIL for other names", servfail],
  ["is silent about other names", silent],
];

for (const [does, others] of closed) {
  test(`a closed network's server that ${does} is right about its own zone`, async () => {
    const zone: Say = (name) => {
      if (!name.endsWith("own.net")) return others;
      return name === "mail.own.net" ? found : noName;
    };
    const { trust, check, pass } = world(zone);
    trust.start();
    assert.equal(await check("mail.own.net"), "found");
    assert.equal(await check("none.own.net"), "absent");
    await pass(70_000);
    assert.equal(await check("none.own.net"), "absent");
    assert.equal(trust.distrusted, undefined);
    trust.close();
  });
}

test("before any name was found, a closed server's name with another record is still believed", async () => {
  const { trust, check } = world((name) => (name === "web.net" ? noData : noName));
  trust.start();
  assert.equal(await check("web.net"), "absent");
  trust.close();
});

test("names under .test and .example are believed absent from a server that found nothing yet", async () => {
  const { trust, check, pass } = world(denies);
  trust.start();
  assert.equal(await check("none.example"), "absent");
  await pass(10_000);
  assert.equal(await check("none.test"), "absent");
  assert.equal(await check("none.net"), "unknown");
  trust.close();
});

test("a closed server that was suspect while nobody asked is trusted with its first mail server", async () => {
  const { trust, check, pass, use } = world(denies);
  trust.start();
  await pass(10_000);
  assert.equal(trust.distrusted, "denies");
  use((name) => (name === "mail.own.net" ? found : noName));
  assert.equal(await check("mail.own.net"), "found");
  assert.equal(trust.distrusted, undefined);
  assert.equal(await check("none.own.net"), "absent");
  trust.close();
});

test("one canary of all is enough", async () => {
  const { trust, check, pass } = world((name) => (name === "qq.com" ? found : noName));
  trust.start();
  assert.equal(await check("gone.net"), "absent");
  await pass(10_000);
  assert.equal(trust.distrusted, undefined);
  trust.close();
});

test("a test server with mail servers for every name is not suspect", async () => {
  const { trust, pass } = world((name, type) =>
    CANARIES.includes(name) ? noName : everything(name, type),
  );
  trust.start();
  await pass(10_000);
  assert.equal(trust.distrusted, undefined);
  trust.close();
});

test("a silent resolver is down, not suspect", async () => {
  const { trust, pass } = world(() => silent);
  trust.start();
  await pass(10_000);
  assert.equal(trust.distrusted, undefined);
  assert.equal(await within(trust.answers(), pass), false);
  trust.close();
});

async function within<T>(promise: Promise<T>, pass: (ms: number) => Promise<void>): Promise<T> {
  await pass(100);
  return promise;
}

test("the operator's own canaries may have an address only", async () => {
  const zone: Say = (name, type) => (name === "host.own.net" && type === A ? found : noName);
  const { trust, check, pass, use } = world(zone, namedCanaries(["host.own.net"]));
  trust.start();
  await pass(100);
  assert.equal(await check("none.net"), "absent");
  use(denies);
  assert.equal(await check("none.net"), "unknown");
  trust.close();
});

test("many answers of no cost few questions: 20 a second at most while names are found", async () => {
  const { trust, pass, asked } = world(honest);
  trust.start();
  await pass(100);
  const before = asked();
  for (let count = 0; count < 200; count += 1) {
    trust.examine(`n${String(count)}.net`, noName, () => undefined);
    await pass(5);
  }
  assert.ok(asked() - before <= 25, `${String(asked() - before)} questions`);
  trust.close();
});

const OTHERS =
  "gmx.net comcast.net att.net debian.org apache.org web.de orange.fr docomo.ne.jp btinternet.com uol.com.br";
const known = new Set([...CANARIES, ...OTHERS.split(" "), "there.org"]);
const without =
  (isDenied: (name: string) => boolean): Say =>
  (name) =>
    known.has(name) && !isDenied(name) ? found : noName;

const filters: readonly (readonly [what: string, say: Say, isSuspect: boolean])[] = [
  ["denies nothing", without(() => false), false],
  [
    "denies gmail.com and all .net",
    without((name) => /(?:^|\.)net$|^gmail\.com$/.test(name)),
    true,
  ],
  ["denies every large provider", without((name) => name.endsWith(".com")), true],
  ["lacks one name that may have gone", without((name) => name === "qq.com"), false],
  ["has no zones of the public DNS", without((name) => name === "" || name === "qq.com"), false],
];

for (const [what, say, isSuspect] of filters) {
  test(`a resolver that finds the root and com and ${what} is ${isSuspect ? "" : "not "}suspect`, async () => {
    const { trust, check, pass } = world(say);
    trust.start();
    await pass(200);
    assert.equal(await check("there.org"), say("there.org", 15).kind, "what is found is believed");
    assert.equal(await check("gone.org"), isSuspect ? "unknown" : "absent");
    await pass(10_000);
    assert.equal(trust.distrusted, isSuspect ? "filters" : undefined);
    trust.close();
  });
}

test("names that a filter withholds are counted for a day, with one log event a day", async () => {
  const filtered = { kind: "unknown", why: "filtered" } as const;
  const blocked = (name: string): boolean => name.startsWith("blocked");
  const { trust, check, pass, lines } = world((name, type) =>
    blocked(name) ? filtered : honest(name, type),
  );
  for (const name of ["blocked1.com", "blocked2.com", "blocked1.com"]) {
    assert.equal(await check(name), "unknown");
  }
  assert.equal(trust.stats().filteredToday, 2);
  assert.equal(trust.distrusted, undefined, "its other answers are believed");
  assert.deepEqual(lines, ["dns.filtered"]);
  await pass(100);
  assert.equal(await check("blocked3.com"), "unknown");
  assert.deepEqual([trust.stats().filteredToday, lines.length], [3, 1]);
});

import { strict as assert } from "node:assert";
import { test, type TestContext } from "node:test";
import { addAccount, openStores } from "../../test/contracts/stores.ts";
import { literalDatasets } from "../../test/lists/literal-datasets.ts";
import type { SqlDatabase } from "../store/database.ts";
import { Accounts } from "../accounts/accounts-store.ts";
import { readEntry } from "../core/address/address.ts";
import { DAY_MS } from "../core/calendar.ts";
import type { TrafficFacts } from "../core/policy/policy.ts";
import { createAccountHash, marksOf, reportedDomainOf } from "./traffic-marks.ts";
import { FRESH_MS, Traffic, type TrafficDeps } from "./traffic.ts";
import { TrafficStore } from "./traffic-store.ts";
import { AccountSwitches } from "./account-switches.ts";

const hash = createAccountHash(new Uint8Array(32).fill(5));
const datasets = literalDatasets({ free: ["free.example"], domains: { "ours.example": "allow" } });

const MESSAGE = { question: "send", isKnown: false, sources: [] } as const;

/** A counter on SQLite, with the accounts "a1" and "a2". */
async function openCounter(
  t: TestContext,
  before: (store: TrafficStore) => TrafficDeps["store"] = (s) => s,
) {
  const stores = await openStores(t);
  const { clock, ids, log, sql } = stores;
  for (const id of ["a1", "a2"]) await addAccount(stores, 0, id);
  const store = new TrafficStore(sql.db, clock);
  const open = (freshMs?: number) =>
    new Traffic({
      store: before(store),
      clock,
      ids,
      log,
      ...(freshMs !== undefined && { freshMs }),
    });
  const accounts = new Accounts(sql.db);
  const owner = async (accountId: string, isPage: boolean) => ({
    accountId,
    since: (await accounts.find(accountId))?.trafficSince ?? 0,
    isPage,
  });
  /** The facts of the last entry after all were decided on. */
  const count = async (
    entries: readonly string[],
    { traffic = first, accountId = "a1", host = "mx.hoster.example", isPage = false } = {},
  ): Promise<TrafficFacts> => {
    let facts: TrafficFacts = {};
    for (const text of entries) {
      const mail = { kind: "hosts", hosts: [host], implicit: false } as const;
      const entry = readEntry(text, "address");
      const reportedDomain =
        entry.kind === "address" ? reportedDomainOf(entry.domain, datasets) : undefined;
      const by = { hash, datasets, reportedDomain };
      const marks = marksOf(await owner(accountId, isPage), { entry, mail }, by);
      facts = {};
      if (marks === undefined) continue;
      await traffic.read(marks, 1_000);
      facts = known(traffic.facts(marks));
      traffic.count(marks);
    }
    return facts;
  };
  const first = open();
  return { ...stores, store, accounts, open, count, traffic: first };
}

const FOUR = ["ada.l@gmail.com", "a.dal@gmail.com", "adal+x@gmail.com", "adal@googlemail.com"];
const NEW = { domain_known_days: 0, mx_new_domains: 1, sub_names: 0 };
const one = (seen: number): TrafficFacts => ({ mailbox_seen: seen });

const cases: readonly (readonly [string, readonly string[], TrafficFacts])[] = [
  ["four spellings of one mailbox", FOUR, one(4)],
  ["the fifth", [...FOUR, "adal@gmail.com"], one(5)],
  ["upper case is no spelling", [...FOUR, "ADA.L@GMAIL.COM"], one(4)],
  ["the same spelling again is none", [...FOUR, ...FOUR], one(4)],
  ["another mailbox has its own count", [...FOUR, "ada@gmail.com"], one(1)],
  [
    "elsewhere dots make another mailbox",
    ["a.b@x.example", "ab@x.example"],
    { ...one(1), domain_mailboxes: 2, ...NEW },
  ],
  [
    "details of one mailbox are spellings",
    ["ab@x.example", "ab+1@x.example"],
    { ...one(2), domain_mailboxes: 1, ...NEW },
  ],
  [
    "names below a registrable domain, not the domain itself",
    ["a@x.example", "a@p.x.example", "a@q.x.example", "b@q.x.example", "a@x.example"],
    { ...one(1), domain_mailboxes: 4, ...NEW, sub_names: 2 },
  ],
  [
    "new domains behind one mail host",
    ["a@x.example", "a@y.example", "a@z.example", "b@x.example"],
    { ...one(1), domain_mailboxes: 2, ...NEW, mx_new_domains: 3 },
  ],
  ["a free provider", ["a@free.example"], one(1)],
  ["below a free provider", ["a@x.free.example"], one(1)],
  ["a large provider", ["a@outlook.com"], one(1)],
  ["a domain that the operator allows", ["a@ours.example"], one(1)],
  ["a relay", ["a@duck.com"], one(1)],
  ["a name of a relay", ["a@jo.anonaddy.com"], one(1)],
  ["dynamic DNS on the public suffix list", ["a@jo.duckdns.org"], one(1)],
  ["dynamic DNS that is not on it", ["a@jo.mooo.com"], one(1)],
  ["a registry of free names", ["a@jo.us.ci"], one(1)],
  ["a private suffix", ["a@jo.github.io"], one(1)],
  ["a domain is no mailbox", ["x.example"], {}],
  ["nonsense is no mailbox", ["a b@x"], {}],
];

for (const [name, entries, want] of cases) {
  test(`traffic: ${name}`, async (t) => {
    const { count, traffic, open } = await openCounter(t);
    assert.deepEqual(await count(entries), want);
    await traffic.flush();
    assert.deepEqual(await count(entries.slice(-1), { traffic: open() }), want, "after a restart");
  });
}

test("each fact forgets after its time, a domain does not", async (t) => {
  const { count, clock, traffic, open } = await openCounter(t);
  await count(["a@x.example", "a+1@x.example", "b@p.x.example", "c@y.example"]);
  clock.advance(DAY_MS - 1);
  const soon = { ...one(2), domain_mailboxes: 2, sub_names: 1, domain_known_days: 1 };
  assert.deepEqual(await count(["a@x.example"]), { ...soon, mx_new_domains: 2 });
  clock.advance(2);
  const later = { ...one(2), domain_mailboxes: 1, sub_names: 0, domain_known_days: 1 };
  assert.deepEqual(await count(["a@x.example"]), { ...later, mx_new_domains: 0 });
  await traffic.flush();
  assert.deepEqual(await count(["a@x.example"], { traffic: open() }), {
    ...later,
    mx_new_domains: 0,
  });
  clock.advance(6 * DAY_MS);
  assert.equal((await count(["a+2@x.example"])).mailbox_seen, 2);
  clock.advance(7 * DAY_MS);
  assert.deepEqual(await count(["a@x.example"]), {
    ...later,
    ...one(1),
    domain_known_days: 14,
    mx_new_domains: 0,
  });
});

test("what is kept are keyed hashes, others for each account", async (t) => {
  const { count, traffic, sql } = await openCounter(t);
  for (const accountId of ["a1", "a2"]) await count(["Ada.L@sub.rare.example"], { accountId });
  await traffic.flush();
  const rows = await sql.db.selectFrom("traffic").selectAll().execute();
  assert.doesNotMatch(JSON.stringify(rows), /ada|rare|hoster/i);
  const hashes = rows.flatMap(({ subject, item }) => [...new Set([subject, item])]);
  const ofOne = (id: string) =>
    new Set(rows.filter((row) => row.account_id === id).flatMap((row) => [row.subject, row.item]));
  assert.equal(new Set(hashes).size, ofOne("a1").size + ofOne("a2").size);
  assert.equal(rows.length, 10);
});

test("another account's decisions change nothing", async (t) => {
  const { count } = await openCounter(t);
  for (let at = 0; at < 9; at += 1) await count([`m${String(at)}@x.example`], { accountId: "a2" });
  assert.deepEqual(await count(["a@x.example"]), { ...one(1), domain_mailboxes: 1, ...NEW });
});

test("what pages ask is counted apart, also when both ask at once", async (t) => {
  const { count } = await openCounter(t);
  for (let at = 0; at < 9; at += 1) await count([`m${String(at)}@x.example`], { isPage: true });
  const own = { ...one(1), domain_mailboxes: 1, ...NEW };
  assert.deepEqual(await count(["a@x.example"]), own);
  const page = await count(["a@x.example"], { isPage: true });
  assert.deepEqual(page, { ...own, domain_mailboxes: 10 });
});

test("sign-ups that come at once see each other", async (t) => {
  const { count } = await openCounter(t);
  const at = (number: number) => count([`m${String(number)}@x.example`]);
  const facts = await Promise.all([0, 1, 2, 3, 4].map(at));
  const mailboxes = new Set(facts.map(({ domain_mailboxes: seen }) => seen));
  assert.deepEqual(mailboxes, new Set([1, 2, 3, 4, 5]));
});

test("a flood of page keys pushes out its own rows alone", async (t) => {
  const { count, traffic, sql, clock } = await openCounter(t);
  const { db } = sql;
  await count(["a@x.example"]);
  await traffic.flush();
  clock.advance(1_000);
  const flood = Array.from({ length: 20 }, (_, at) => `m${String(at)}@y${String(at)}.example`);
  await count(flood, { isPage: true });
  await traffic.flush();
  clock.advance(60_000);
  const small = new TrafficStore(db, clock, { source: 30, other: 30 });
  const last = {
    account_id: "a1",
    kind: "spelling",
    item: "i",
    first_ms: 0,
    last_ms: 1,
    count: 0,
  } as const;
  const since = (await db.selectFrom("accounts").select("traffic_since").executeTakeFirst())
    ?.traffic_since;
  await small.add([{ ...last, subject: "s", since: Number(since) }]);
  const rows = await db.selectFrom("traffic").select("subject").execute();
  assert.ok(rows.length <= 30);
  assert.equal(rows.filter(({ subject }) => !subject.startsWith("page.")).length, 5);
});

/** Counts a sign-up of the mailbox under the key "ip" alone; returns how many others signed up under it today. */
function signUpBy(sql: SqlDatabase) {
  return async (traffic: Traffic, mailbox: string, key: string): Promise<number | undefined> => {
    const { since = 0 } =
      (await sql.db.selectFrom("accounts").select("traffic_since as since").executeTakeFirst()) ??
      {};
    const owner = { accountId: "a1", since: Number(since), isPage: false };
    const marks = { owner, mailbox, spelling: mailbox, messages: "messages" };
    const asked = { question: "signup", isKnown: false, sources: [{ name: "ip", subject: key }] } as const; // prettier-ignore
    await traffic.read(marks, 1_000, asked);
    const counts = traffic.counts(marks, asked);
    traffic.countSources(marks, asked);
    return counts?.["ip"]?.day;
  };
}

test("an attacker with a new key for each call keeps within the bound, and the honest keys of the day stay", async (t) => {
  const { sql, clock, ids, log } = await openCounter(t);
  const signUp = signUpBy(sql);
  const store = new TrafficStore(sql.db, clock, { source: 60, other: 60 });
  const traffic = new Traffic({ store, clock, ids, log });
  clock.advance(20_000 * DAY_MS);
  for (const mailbox of ["ann", "ben", "eva"]) await signUp(traffic, mailbox, "office");
  for (let at = 0; at < 200; at += 1) {
    await signUp(traffic, `m${String(at)}`, `new${String(at)}`);
    if (at % 2 !== 0) continue;
    clock.advance(60_000);
    await traffic.flush();
  }
  clock.advance(60_000);
  await traffic.flush();
  const rows = await sql.db.selectFrom("traffic").select("subject").execute();
  assert.ok(rows.length <= 60 + 20, "what came since the last count, too");
  const others = rows.filter(({ subject }) => subject !== "office").map(({ subject }) => subject);
  assert.ok(others.includes("new199") && !others.includes("new0"), "the oldest go first");
  const restarted = new Traffic({ store, clock, ids, log });
  assert.equal(await signUp(restarted, "new", "office"), 3);
});

test("what one server counts another one knows within a second, and a kill loses no more", async (t) => {
  const { sql, clock, open } = await openCounter(t);
  const signUp = signUpBy(sql);
  const [one, two] = [open(FRESH_MS), open(FRESH_MS)];
  clock.advance(20_000 * DAY_MS);
  assert.equal(await signUp(two, "ann", "office"), 0);
  await two.flush();
  clock.advance(1_000);
  assert.deepEqual(
    [await signUp(one, "ben", "office"), await signUp(two, "ann", "office")],
    [1, 0],
  );
  for (let passed = 0; passed < 1_000; passed += 100) {
    clock.advance(100);
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
  }
  assert.equal(await signUp(two, "eva", "office"), 2);
  const afterKill = open(FRESH_MS);
  assert.equal(await signUp(afterKill, "eva", "office"), 2);
});

test("counts of several processes add up within a second", async (t) => {
  const { count, open, clock } = await openCounter(t);
  const servers = [open(400), open(400)];
  for (let at = 0; at < 8; at += 1) {
    const traffic = servers[at % 2] ?? assert.fail();
    await count([`m${String(at)}@p${String(at)}.x.example`], { traffic });
    clock.advance(500);
    for (const each of servers) await each.flush();
    clock.advance(500);
  }
  for (const traffic of servers) {
    const { domain_mailboxes: mailboxes, sub_names: names } = await count(["m0@p0.x.example"], {
      traffic,
    });
    assert.deepEqual([mailboxes, names], [8, 8]);
  }
});

test("a store that fails says nothing and is logged, and what waits is written later", async (t) => {
  let isDown = true;
  const { count, log, traffic } = await openCounter(t, (store) => ({
    ofSubjects: (...asked) =>
      isDown ? Promise.reject(new Error("down")) : store.ofSubjects(...asked),
    add: (rows) => (isDown ? Promise.reject(new Error("down")) : store.add(rows)),
    addIf: (...asked) => store.addIf(...asked),
  }));
  for (const entry of FOUR) assert.deepEqual(await count([entry]), {});
  await traffic.flush();
  assert.deepEqual(log.lines, ["error traffic.read_failed"], "once a minute");
  isDown = false;
  assert.deepEqual(await count(["adal@gmail.com"]), one(5));
});

test("a store that does not answer delays a decision by 300 ms and no other one of the name", async (t) => {
  let answer = (): void => undefined;
  const { count, clock, traffic } = await openCounter(t, (store) => ({
    ofSubjects: (...asked) =>
      new Promise((resolve) => (answer = () => resolve(store.ofSubjects(...asked)))),
    add: (rows) => store.add(rows),
    addIf: (...some) => store.addIf(...some),
  }));
  const asked = count(["jo@gmail.com"]);
  await new Promise(setImmediate);
  clock.advance(300);
  assert.deepEqual(await asked, {});
  answer();
  await new Promise(setImmediate);
  assert.deepEqual(await count(["j.o@gmail.com"]), one(2), "what came late is known now");
  await traffic.flush();
});

test("while the store is away a flood of new keys costs no memory and no honest counts", async (t) => {
  let isDown = false;
  const guarded = <T>(work: () => Promise<T>): Promise<T> =>
    isDown ? Promise.reject(new Error("down")) : work();
  const { traffic, log, clock } = await openCounter(t, (store) => ({
    ofSubjects: (...asked) => guarded(() => store.ofSubjects(...asked)),
    add: (rows) => guarded(() => store.add(rows)),
    addIf: (...asked) => guarded(() => store.addIf(...asked)),
  }));
  clock.advance(20_000 * DAY_MS);
  const owner = { accountId: "a1", since: 1, isPage: false };
  const ask = async (mailbox: string, key: string) => {
    const marks = { owner, mailbox, spelling: mailbox, messages: "messages" };
    const asked = {
      ...MESSAGE,
      question: "signup",
      sources: [{ name: "ip", subject: key }],
    } as const;
    await traffic.read(marks, 1_000, asked);
    const counts = traffic.counts(marks, asked);
    traffic.countSources(marks, asked);
    return counts?.["ip"]?.day;
  };
  for (const mailbox of ["m1", "m2"]) await ask(mailbox, "office");
  isDown = true;
  assert.equal(await ask("m3", "office"), 2);
  for (let at = 0; at < 21_000; at += 1)
    assert.equal(await ask("m1", `new${String(at)}`), undefined);
  assert.equal(await ask("m4", "office"), 3, "memory counts go on");
  clock.advance(60_000);
  await traffic.flush();
  isDown = false;
  await traffic.flush();
  assert.equal(await ask("m5", "office"), 4);
  assert.equal(new Set(log.lines).size, log.lines.length, "each once a minute");
});

test("a flood of one name stops counting at 1,000", async (t) => {
  const { count, traffic, sql } = await openCounter(t);
  const flood = Array.from({ length: 1_010 }, (_, at) => `m${String(at)}@x.example`);
  assert.equal((await count(flood)).domain_mailboxes, 1_000);
  await traffic.flush();
  const rows = await sql.db
    .selectFrom("traffic")
    .select("kind")
    .where("kind", "=", "mailbox")
    .execute();
  assert.equal(rows.length, 1_000);
});

test("switching off forgets, and switching on begins anew", async (t) => {
  const { count, traffic, accounts, clock, sql } = await openCounter(t);
  const { db } = sql;
  const switches = new AccountSwitches({ accounts, db, clock });
  const turn = switches.switchTraffic;
  await count([...FOUR, "adal@gmail.com"]);
  await traffic.flush();
  assert.equal(await turn("a1", "off"), true);
  assert.deepEqual(await sql.db.selectFrom("traffic").selectAll().execute(), []);
  assert.equal(await turn("a1", "on"), true);
  assert.deepEqual(await count(["adal@gmail.com"]), one(1));
  assert.equal(await turn("nobody", "off"), false);
});

test("a wave is more than 30 messages to new mailboxes, and more than six times the median hour", async (t) => {
  const { clock, open } = await openCounter(t);
  const traffic = open();
  const owner = { accountId: "a1", since: 1, isPage: false };
  const send = async (mailbox: string): Promise<TrafficFacts> => {
    const marks = { owner, mailbox, spelling: mailbox, messages: "messages" };
    await traffic.read(marks, 1_000, MESSAGE);
    const facts = known(traffic.facts(marks, MESSAGE));
    await traffic.countMessage(marks, MESSAGE, { isSent: true, timeoutMs: 1_000 }, () => true);
    return facts;
  };
  const waves = async (name: string, count: number): Promise<number> => {
    let first = 0;
    for (let at = 1; at <= count; at += 1) {
      const { wave } = await send(`${name}${String(at)}`);
      if (wave === true && first === 0) first = at;
    }
    return first;
  };
  clock.advance(20_000 * DAY_MS);
  const hourMs = DAY_MS / 24;
  for (let hour = 0; hour < 8 * 24; hour += 1) {
    assert.equal(await waves(`h${String(hour)}x`, 10), 0);
    clock.advance(hourMs);
  }
  assert.equal(await waves("x", 70), 61, "six times the median of 10");
  clock.advance(8 * DAY_MS);
  assert.equal(await waves("y", 40), 31, "the median of a fortnight with eight quiet days is 0");
  const { mailbox_seen: _, ...sent } = await send("y1");
  assert.deepEqual(sent, { sent_10m: 1, sent_day: 1, sent_known: true, wave: true });
});

const known = (facts: TrafficFacts): TrafficFacts =>
  Object.fromEntries(
    Object.entries(facts).filter(([name, fact]) => fact !== undefined && name !== "shape_wave"),
  );

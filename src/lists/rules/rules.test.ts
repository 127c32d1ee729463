import { strict as assert } from "node:assert";
import { test } from "node:test";
import { keptLog } from "../../../test/process/kept-log.ts";
import { hash, listsWorld } from "../../../test/lists/lists-world.ts";
import { LiveRules, OPERATOR_POLL_MS } from "./live-rules.ts";
import { memoryNotices } from "../../store/notices.ts";
import { DAY_MS, dayOf, isoDate } from "../../core/calendar.ts";
import type { RuleStore } from "./rule.ts";
import { NOTE_MAX, RuleService, endOfDay, listLines } from "./rules.ts";

const BY_ADA = { note: "", author: "ada" };

test("an address is stored as its keyed hash and nowhere in clear", async (t) => {
  const { operator, entries } = await listsWorld(t);
  await operator.save("Some.Body+tag@gmail.com", "deny", BY_ADA);
  const [stored] = await entries.all();
  assert.equal(stored?.subject, `address:${hash("somebody@gmail.com")}@gmail.com`);
  assert.doesNotMatch(JSON.stringify(stored), /some\.?body/i);
});

const refused = [
  ["a URL", "http://a.example", "deny", BY_ADA, /Not a domain/],
  ["a domain as a known account", "a.example", "account", BY_ADA, /A trap is/],
  ["a note of two lines", "a.example", "deny", { ...BY_ADA, note: "a\nb" }, /A note is/],
  ["a long note", "a.example", "deny", { ...BY_ADA, note: "x".repeat(NOTE_MAX + 1) }, /A note is/],
  ["a date that is past", "a.example", "deny", { ...BY_ADA, expiresAtMs: 5 }, /in the past/],
] as const;

for (const [name, text, word, details, want] of refused) {
  test(`refused: ${name}`, async (t) => {
    const { operator, entries } = await listsWorld(t);
    await assert.rejects(operator.save(text, word, details), want);
    assert.deepEqual(await entries.all(), []);
  });
}

test("the last day of an entry survives export and import, and a day that is past says nothing", async (t) => {
  const { operator, clock } = await listsWorld(t);
  const today = dayOf(clock.nowMs());
  const [last, past] = [isoDate(today + 3), isoDate(today - 1)];
  const text = `a.example until ${last}\nallow b.example  until  ${isoDate(today)} # why\nc.example until ${past}\nd.example`;
  const answer = await operator.importLines(text, "deny", {
    ...BY_ADA,
    expiresAtMs: endOfDay(today + 9),
  });
  assert.deepEqual(answer, { count: 3, atMs: clock.nowMs(), replaced: [] });
  const lines =
    `deny a.example until ${last}\nallow b.example until ${isoDate(today)}\n` +
    `deny d.example until ${isoDate(today + 9)}\n`;
  assert.equal(listLines(await operator.entries()), lines);
  const other = await listsWorld(t);
  await other.operator.importLines(lines, undefined, BY_ADA);
  assert.equal(listLines(await other.operator.entries()), lines);
  other.clock.advance(DAY_MS);
  assert.equal((await other.operator.entries()).length, 2);
});

test("a date that is none is a wrong line, and an entry may be called until", async (t) => {
  const { operator } = await listsWorld(t);
  const text = "until.example\nallow a.example until tomorrow\na.example until\nuntil 2027-01-31";
  await assert.rejects(
    operator.importLines(text, "deny", BY_ADA),
    /^Refusal: Line 2: The last day is a date.*\nLine 3: Not a domain.*\nLine 4: Not a domain.*$/,
  );
});

test("full lists take what they hold already, and nothing else", async (t) => {
  const { clock } = await listsWorld(t);
  const names = Array.from({ length: 1_000 }, (_, n) => `n${String(n)}.example`);
  const held = names.map((subject) => ({
    ...BY_ADA,
    subject,
    word: "deny" as const,
    createdAtMs: 0,
  }));
  const saved: number[] = [];
  const entries = {
    all: () => Promise.resolve(held),
    save: (more: readonly unknown[]) => Promise.resolve(void saved.push(more.length)),
  } as unknown as RuleStore;
  const operator = new RuleService({ entries, hash, clock, entriesMax: names.length });
  await operator.save("n7.example", "allow", BY_ADA);
  const { count } = await operator.importLines(names.join("\n"), "deny", BY_ADA);
  assert.equal(count, names.length);
  await assert.rejects(operator.save("new.example", "deny", BY_ADA), /forget some first/);
  await assert.rejects(operator.save("n7.example", "pristine", BY_ADA), /forget some first/);
  assert.deepEqual(saved, [1, names.length]);
});

test("a file of nonsense is given up after twenty mistakes", async (t) => {
  const { operator } = await listsWorld(t);
  await assert.rejects(
    operator.importLines("<html>\n".repeat(100_000), "deny", BY_ADA),
    ({ message }: Error) => message.split("\n").length === 20,
  );
});

test("another process sees a change at its next look, and an entry go at its hour", async (t) => {
  const { operator, entries, clock } = await listsWorld(t);
  const live = new LiveRules({ entries, hash, clock, log: keptLog() });
  await live.refresh();
  let changes = 0;
  live.start(() => (changes += 1));
  t.after(() => live.stop());
  await operator.save("a.example", "deny", { ...BY_ADA, expiresAtMs: clock.nowMs() + 60_000 });
  assert.equal(live.current().domain("a.example"), undefined);
  assert.ok(OPERATOR_POLL_MS <= 2_000);
  await poll(clock, () => changes === 1);
  assert.equal(live.current().domain("a.example"), "deny");
  clock.advance(60_000);
  await poll(clock, () => changes === 2);
  assert.equal(live.current().domain("a.example"), undefined);
  await poll(clock, () => true);
  assert.equal(changes, 2);
});

test("a change that is told is seen without a look of the clock", async (t) => {
  const { entries, clock } = await listsWorld(t);
  const notices = memoryNotices();
  const operator = new RuleService({ entries, hash, clock, notices });
  const live = new LiveRules({ entries, hash, clock, log: keptLog(), notices });
  await live.refresh();
  const changed = () => new Promise<void>((resolve) => (heard = resolve));
  let heard = (): void => undefined;
  live.start(() => heard());
  t.after(() => live.stop());
  const saved = changed();
  await operator.save("a.example", "deny", BY_ADA);
  await saved;
  assert.equal(live.current().domain("a.example"), "deny");
  const forgotten = changed();
  await operator.forget("a.example");
  await forgotten;
  assert.equal(live.current().domain("a.example"), undefined);
});

/** Turns the clock a look at a time, at most ten, until something came of it. */
async function poll(clock: { advance: (ms: number) => void }, isDone: () => boolean) {
  for (let looks = 0; looks < 10; looks += 1) {
    clock.advance(OPERATOR_POLL_MS);
    for (let turns = 0; turns < 20; turns += 1) await new Promise(setImmediate);
    if (isDone()) return;
  }
  assert.fail("nothing came of it");
}

test("a store that fails leaves the lists as they are and is asked again", async (t) => {
  const { operator, entries, clock } = await listsWorld(t);
  await operator.save("a.example", "deny", BY_ADA);
  let isDown = false;
  const changes = () => (isDown ? Promise.reject(new Error("down")) : entries.changes());
  const log = keptLog();
  const live = new LiveRules({
    entries: { changes, all: () => entries.all() },
    hash,
    clock,
    log,
  });
  await live.refresh();
  live.start(() => undefined);
  t.after(() => live.stop());
  isDown = true;
  await poll(clock, () => log.events.length > 0);
  assert.equal(live.current().domain("a.example"), "deny");
  isDown = false;
  await operator.save("b.example", "deny", BY_ADA);
  await poll(clock, () => live.current().domain("b.example") === "deny");
});

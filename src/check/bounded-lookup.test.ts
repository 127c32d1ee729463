import { strict as assert } from "node:assert";
import { test } from "node:test";
import { manualClock } from "../../test/time/manual-clock.ts";
import { zoneLookup } from "../../test/dns/zone-lookup.ts";
import type { Answer, Lookup, MailExchange } from "../core/mail/lookup.ts";
import { BoundedLookup } from "./bounded-lookup.ts";

const found: Answer<MailExchange> = {
  kind: "found",
  records: [{ preference: 10, host: "mx.example" }],
  expiresAtMs: 5_000,
};
const silent = (): Promise<never> => new Promise(() => undefined);
const withMx = (mx: Lookup["mx"]): Lookup => ({ ...zoneLookup({}), mx });

test("a known answer passes through without a promise", () => {
  const bounded = new BoundedLookup(
    withMx(() => found),
    manualClock(),
  );
  assert.equal(bounded.lookup.mx("d.example"), found);
  assert.equal(bounded.expiresAtMs(), 5_000);
});

test("a question still open at the deadline is unknown, and so is every later one", async () => {
  const clock = manualClock();
  const bounded = new BoundedLookup(withMx(silent), clock);
  const answer = bounded.lookup.mx("d.example");
  clock.advance(5_000);
  assert.deepEqual(await answer, { kind: "unknown", why: "deadline" });
  assert.deepEqual(await bounded.lookup.txt("d.example"), { kind: "unknown", why: "deadline" });
});

test("a shorter bound ends its own questions only", async () => {
  const clock = manualClock();
  let answerLate: (answer: Answer<MailExchange>) => void = () => undefined;
  const late = new Promise<Answer<MailExchange>>((resolve) => (answerLate = resolve));
  const bounded = new BoundedLookup(
    withMx(() => late),
    clock,
  );
  const short = bounded.within(2_500).mx("d.example");
  const long = bounded.lookup.mx("d.example");
  clock.advance(2_500);
  assert.deepEqual(await short, { kind: "unknown", why: "deadline" });
  answerLate(found);
  assert.equal(await long, found);
});

test("a shorter bound counts from when it was asked for, and ends with the premium budget", async () => {
  const clock = manualClock();
  const bounded = new BoundedLookup(withMx(silent), clock);
  clock.advance(1_000);
  const second = bounded.within(2_500).mx("d.example");
  clock.advance(2_500);
  assert.deepEqual(await second, { kind: "unknown", why: "deadline" });
  const last = bounded.within(2_500).mx("d.example");
  clock.advance(500);
  assert.deepEqual(await last, { kind: "unknown", why: "deadline" });
});

test("the core goes on when the premium budget is spent", async () => {
  const clock = manualClock();
  const bounded = new BoundedLookup(
    withMx(() => found),
    clock,
  );
  clock.advance(4_000);
  assert.equal((await bounded.within(Infinity).mx("d.example")).kind, "unknown");
  assert.equal((await bounded.lookup.mx("d.example")).kind, "found");
});

test("an answer that says nothing of its age is stale at once", async () => {
  const bounded = new BoundedLookup(zoneLookup({}), manualClock());
  await bounded.lookup.mx("d.example");
  assert.equal(bounded.expiresAtMs(), 0);
});

test("the earliest answer to go stale is the one that counts", async () => {
  const lookup = withMx((name) => ({
    ...found,
    expiresAtMs: name === "a.example" ? 9_000 : 7_000,
  }));
  const bounded = new BoundedLookup(lookup, manualClock());
  await bounded.lookup.mx("a.example");
  await bounded.lookup.mx("b.example");
  assert.equal(bounded.expiresAtMs(), 7_000);
});

test("nothing is left to fire when the result is out", async () => {
  const clock = manualClock();
  const bounded = new BoundedLookup(withMx(silent), clock);
  let fired = false;
  void Promise.resolve(bounded.lookup.mx("d.example")).then(() => (fired = true));
  bounded.end();
  clock.advance(10_000);
  await Promise.resolve();
  assert.equal(fired, false);
});

// What the scripts of `adapters/redis/scripts.ts` do, said once more. `script-effects.test.ts` compares both on a real Redis.
import * as scripts from "../../../src/adapters/redis/scripts.ts";
import { RATE_WINDOW_MS } from "../../../src/ports/admission/rate-counter.ts";
import type { Keyspace } from "./keyspace.ts";

const { State } = scripts;
const SETTLE_MS = 600;
const HOLD_MS = 120_000;
const COUNTER_KEPT_MS = 3_600_000;
const TERMS = 7;

type Answer = readonly unknown[];

interface Call {
  readonly db: Keyspace;
  readonly keys: readonly string[];
  readonly args: readonly string[];
  readonly nowMs: number;
}

interface Hold {
  readonly field: string;
  readonly units: number;
  readonly day: string;
  readonly month: string;
  readonly deadlineMs: number;
  readonly fill: string;
}

function holdOf(field: string, text: string): Hold {
  const [units = "", day = "", month = "", deadline = "", fill = ""] = text.split(" ");
  return { field, units: Number(units), day, month, deadlineMs: Number(deadline), fill };
}

const holdsOf = ({ db }: Call, key: string): readonly Hold[] =>
  [...db.hgetall(key)]
    .filter(([field]) => field.startsWith("h"))
    .map(([field, text]) => holdOf(field, text));

/** Nobody counts on this counter until it is read again; holds stay. */
function makeVoid({ db, nowMs }: Call, key: string): void {
  for (const field of db.hgetall(key).keys()) {
    if (field.startsWith("d") || field.startsWith("m")) db.hdel(key, field);
  }
  db.hset(key, "s", nowMs);
  db.pexpire(key, COUNTER_KEPT_MS);
}

function markOf({ db, nowMs }: Call, since: string): number {
  const known = db.get(since);
  if (known !== undefined && Number(known) <= nowMs) return Number(known);
  db.set(since, String(nowMs));
  return nowMs;
}

function stampsOf(call: Call, since: string, key: string): readonly [number, number] {
  const { db, nowMs } = call;
  const mark = markOf(call, since);
  const voided = Number(db.hget(key, "s") ?? "0");
  if (voided > nowMs) db.hset(key, "s", nowMs);
  return [mark, Math.min(voided, nowMs)];
}

function takeRate({ db, nowMs }: Call, rate: string, limit: string): readonly number[] {
  const most = Number(limit);
  const window = db.hgetall(rate);
  let opened = Number(window.get("o") ?? Infinity);
  let used = Number(window.get("u") ?? 0);
  if (nowMs < opened || nowMs >= opened + RATE_WINDOW_MS) [opened, used] = [nowMs, 0];
  const isGranted = used < most;
  if (isGranted) {
    used += 1;
    if (used === 1) {
      db.hset(rate, "o", opened, "u", 1);
      db.pexpire(rate, RATE_WINDOW_MS);
    } else db.hincrby(rate, "u", 1);
  }
  const closesInMs = opened + RATE_WINDOW_MS - nowMs;
  return [isGranted ? 1 : 0, Math.max(0, most - used), closesInMs, opened];
}

/** Holds of dead processes: the ledger knows what came of them. */
function endOldHolds(call: Call, key: string): void {
  const { db, nowMs } = call;
  const all = holdsOf(call, key);
  const open = all.filter(({ deadlineMs }) => nowMs <= deadlineMs);
  for (const { field, deadlineMs } of all) if (nowMs > deadlineMs) db.hdel(key, field);
  if (open.length === 0) db.hdel(key, "x");
  else db.hset(key, "x", Math.min(...open.map(({ deadlineMs }) => deadlineMs)));
  if (open.length < all.length) makeVoid(call, key);
}

interface Names {
  readonly since: string;
  readonly rate: string;
  readonly quota: string;
}

/** What a request wants: texts, each of which may be "". */
interface Terms {
  readonly limit: string;
  readonly wanted: string;
  readonly daily: string;
  readonly monthly: string;
  readonly day: string;
  readonly month: string;
  readonly hold: string;
}

function termsOf(values: readonly string[]): Terms {
  const text = (at: number): string => values[at] ?? "";
  return {
    limit: text(0),
    wanted: text(1),
    daily: text(2),
    monthly: text(3),
    day: `d${text(4)}`,
    month: `m${text(5)}`,
    hold: text(6),
  };
}

function countOne(call: Call, names: Names, values: readonly string[]): Answer {
  const terms = termsOf(values);
  const { limit, wanted } = terms;
  const rate = limit === "" ? [1, 0, 0, 0] : takeRate(call, names.rate, limit);
  if (wanted === "" || rate[0] === 0) return [...rate, State.none];
  return [...rate, ...countUnits(call, names, terms)];
}

function countUnits(call: Call, names: Names, terms: Terms): Answer {
  const { db, nowMs } = call;
  const { quota } = names;
  const due = db.hget(quota, "x");
  if (due !== undefined && nowMs > Number(due)) endOldHolds(call, quota);
  const [inDay, inMonth] = [db.hget(quota, terms.day), db.hget(quota, terms.month)];
  if (inDay === undefined || inMonth === undefined) return missing(call, names);
  const exceeds = (count: string, most: string): boolean =>
    most !== "" && Number(count) + Number(terms.wanted) > Number(most);
  if (exceeds(inMonth, terms.monthly)) return [State.month];
  if (exceeds(inDay, terms.daily)) return [State.day];
  db.hincrby(quota, terms.day, Number(terms.wanted));
  db.hincrby(quota, terms.month, Number(terms.wanted));
  if (terms.hold !== "") openHold(call, quota, terms);
  db.pexpire(quota, COUNTER_KEPT_MS);
  return [State.taken];
}

/** The counter is to be read from the ledger, now or when it has settled. */
function missing(call: Call, { since, quota }: Names): Answer {
  const [mark, voided] = stampsOf(call, since, quota);
  const waitMs = Math.max(mark, voided) + SETTLE_MS - call.nowMs;
  const token = `${String(mark)} ${String(voided)}`;
  return waitMs > 0 ? [State.settling, waitMs, token] : [State.missing, 0, token];
}

function openHold({ db, nowMs }: Call, quota: string, { wanted, day, month, hold }: Terms): void {
  const deadline = String(nowMs + HOLD_MS);
  const filled = db.hget(quota, "f") ?? "0";
  const text = [wanted, day.slice(1), month.slice(1), deadline, filled].join(" ");
  db.hset(quota, `h${hold}`, text);
  if (db.hget(quota, "x") === undefined) db.hset(quota, "x", deadline);
}

function count(call: Call): Answer {
  const [since = "", rate = "", quota = ""] = call.keys;
  return countOne(call, { since, rate, quota }, call.args.slice(1));
}

function countMany(call: Call): Answer {
  const { keys, args } = call;
  const requests = (keys.length - 1) / 2;
  return Array.from({ length: requests }, (_, at) => {
    const from = 1 + requests + Number(args[1 + at]) * TERMS;
    const [since = "", rate = "", quota = ""] = [keys[0], keys[1 + 2 * at], keys[2 + 2 * at]];
    return countOne(call, { since, rate, quota }, args.slice(from, from + TERMS));
  });
}

function spendRate({ db, keys: [rate = ""], args: [window, count = ""] }: Call): Answer {
  if (db.hget(rate, "o") === window) db.hincrby(rate, "u", Number(count));
  return [];
}

function giveRateBack({ db, keys: [rate = ""], args: [window] }: Call): Answer {
  const isSame = db.hget(rate, "o") === window;
  if (isSame && Number(db.hget(rate, "u") ?? 0) > 0) db.hincrby(rate, "u", -1);
  return [];
}

function fill(call: Call): Answer {
  const { db, keys, args } = call;
  const [since = "", key = ""] = keys;
  if (stampsOf(call, since, key).join(" ") !== args[1]) return [];
  const [, , day = "", month = "", inDay, inMonth] = args;
  deleteOldCounts(call, key, Number(day));
  const holds = holdsOf(call, key);
  const setIfNew = (field: string, used: string | undefined, held: readonly Hold[]): void => {
    if (db.hget(key, field) !== undefined) return;
    db.hset(
      key,
      field,
      held.reduce((sum, { units }) => sum + units, Number(used)),
    );
  };
  setIfNew(
    `d${day}`,
    inDay,
    holds.filter((hold) => hold.day === day),
  );
  setIfNew(
    `m${month}`,
    inMonth,
    holds.filter((hold) => hold.month === month),
  );
  db.hincrby(key, "f", 1);
  db.pexpire(key, COUNTER_KEPT_MS);
  return [];
}

function deleteOldCounts({ db }: Call, key: string, day: number): void {
  for (const field of db.hgetall(key).keys()) {
    const kept = field.startsWith("d") ? 3 : 40;
    const old = /^[dm](\d+)$/.exec(field)?.[1];
    if (old !== undefined && Math.abs(Number(old) - day) > kept) db.hdel(key, field);
  }
}

/** Takes units off those counts that are there; whether any was. */
function takeOff({ db }: Call, key: string, fields: readonly string[], units: number): boolean {
  const there = fields.filter((field) => db.hget(key, field) !== undefined);
  for (const field of there) db.hincrby(key, field, -units);
  return there.length > 0;
}

function endHold(call: Call): Answer {
  const { db, keys, args } = call;
  const [[key = ""], [, id = "", how]] = [keys, args];
  const text = db.hget(key, `h${id}`);
  if (text === undefined) {
    if (how === "keep") makeVoid(call, key);
    return [];
  }
  db.hdel(key, `h${id}`);
  const { units, day, month, fill: filled } = holdOf("", text);
  if (how !== "keep") takeOff(call, key, [`d${day}`, `m${month}`], units);
  else if (filled !== (db.hget(key, "f") ?? "0")) makeVoid(call, key);
  return [];
}

function giveUnitsBack(call: Call): Answer {
  const [[key = ""], [, units = "", day = "", month = ""]] = [call.keys, call.args];
  if (!takeOff(call, key, [`d${day}`, `m${month}`], Number(units))) makeVoid(call, key);
  return [];
}

function find(call: Call): Answer {
  markOf(call, call.keys[0] ?? "");
  return [];
}

function forget(call: Call): Answer {
  const [key = ""] = call.keys;
  for (const id of call.args.slice(1)) call.db.hdel(key, `h${id}`);
  makeVoid(call, key);
  return [];
}

const EFFECTS: ReadonlyMap<string, (call: Call) => Answer> = new Map([
  [scripts.COUNT.sha1, count],
  [scripts.COUNT_MANY.sha1, countMany],
  [scripts.FIND.sha1, find],
  [scripts.SPEND_RATE.sha1, spendRate],
  [scripts.GIVE_RATE_BACK.sha1, giveRateBack],
  [scripts.FILL.sha1, fill],
  [scripts.END_HOLD.sha1, endHold],
  [scripts.GIVE_UNITS_BACK.sha1, giveUnitsBack],
  [scripts.FORGET.sha1, forget],
]);

/** Runs a script as EVALSHA does. */
export function effectOf(
  db: Keyspace,
  sha1: string,
  keys: readonly string[],
  values: readonly unknown[],
): Answer {
  const effect = EFFECTS.get(sha1);
  if (effect === undefined) throw new Error("a script that the model does not know");
  const args = values.map(String);
  const nowMs =
    args[0] === "" || effect === spendRate || effect === giveRateBack ? db.nowMs : Number(args[0]);
  return effect({ db, keys, args, nowMs });
}

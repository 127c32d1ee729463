import { createHmac } from "node:crypto";
import type { Finished } from "./people/batches.ts";
import type { Front } from "./front.ts";
import { chargedOn, type Owner } from "./ledger.ts";
import type { People } from "./people/people.ts";
import type { Received } from "./machine.ts";
import type { World } from "./world.ts";

const REST_MS = 120_000;
const TIMERS_MAX = 300;
/** What ended is deleted by then. */
const OLD_MS = 2 * 86_400_000;

const textOf = (row: Readonly<Record<string, unknown>> | undefined, name: string): string =>
  String(row?.[name]);

/** Waits until nothing is under way, then compares what is stored with what the people know. */
export async function checkAtRest(world: World, people: People, before: Before): Promise<void> {
  await settle(world, people);
  const tables: readonly ((world: World, people: People, before: Before) => void)[] = [
    checkCharges,
    checkCredits,
    checkJobs,
    checkWebhooks,
    checkInterrupted,
    checkRefunds,
    checkTimers,
    checkLog,
    checkStarts,
    (_world, { gate }) => gate.compareCounts(),
  ];
  for (const check of tables) check(world, people, before);
}

/** What was so when the bout began. */
export interface Before {
  readonly kills: number;
  readonly atMs: number;
}

async function settle(world: World, people: People): Promise<void> {
  const { timeline, store } = world;
  const endMs = timeline.nowMs + REST_MS;
  for (;;) {
    await timeline.sleep(1_000);
    const [busy] = store.rows(`
      select (select count(*) from jobs where is_running = 1) as jobs,
             (select count(*) from jobs where state = 'completed' and announced = 0) as untold,
             (select count(*) from webhook_deliveries where state in ('queued', 'sending')) as sends`);
    const isUp = world.places.every(
      ({ host }) => host?.life.isAlive === true && host.life.frozenUntilMs <= timeline.nowMs,
    );
    const left = ["jobs", "untold", "sends"].filter((name) => textOf(busy, name) !== "0");
    if (left.length === 0 && isUp) break;
    if (timeline.nowMs > endMs) {
      people.front.wrong(`not at rest after ${String(REST_MS)} ms: ${left.join(", ")}`);
      return;
    }
  }
  await timeline.sleep(people.front.weather.storeFails ? 2_000 : 300);
  for (const owner of people.front.owners) {
    owner.unknownJobs = 0;
    owner.open.clear();
  }
}

/** Every unit is charged once, and none is lost but those that a kill may take. */
function checkCharges(world: World, { front }: People): void {
  const rows = world.store.rows("select owner, day, units, credits from usage_days");
  front.passMidnight();
  front.loseToKills();
  const today = front.today();
  for (const owner of front.owners) {
    const usedOn = (day: number): Used => {
      const row = rows.find((one) => one["owner"] === owner.key && one["day"] === day);
      return { units: Number(row?.["units"] ?? 0), credits: Number(row?.["credits"] ?? 0) };
    };
    if (front.daysByClocks().length === 1) compareDay(owner, usedOn(today), front);
    else compareDays(owner, usedOn, front);
    // Days of addresses are deleted when they can count no more.
    for (const day of owner.charged.keys()) if (day < today) owner.charged.delete(day);
  }
}

interface Used {
  readonly units: number;
  readonly credits: number;
}

function compareDay(owner: Owner, { units, credits }: Used, front: Front): void {
  const { certain, possible } = owner.charged.get(front.today()) ?? { certain: 0, possible: 0 };
  const used = units + credits;
  const most = certain + possible;
  if (used > most) front.wrong(`${owner.key} pays ${String(used)} for at most ${String(most)}`);
  const lost = certain - used;
  if (lost > front.mayBeLost()) front.wrong(`${String(lost)} units of ${owner.key} are lost`);
  if (units > owner.dailyLimit + front.mayBeOver())
    front.wrong(`${owner.key} took more than its quota`);
}

/** Clocks were on several days: what is certain stands on one of them, and is known for each only from now on. */
function compareDays(owner: Owner, usedOn: (day: number) => Used, front: Front): void {
  let lost = 0;
  for (const day of front.daysByClocks()) {
    const charged = chargedOn(owner, day);
    const { units, credits } = usedOn(day);
    lost += charged.certain - units - credits;
    if (units > owner.dailyLimit + front.mayBeOver())
      front.wrong(`${owner.key} took more than its quota`);
    charged.certain = units + credits;
    charged.possible = 0;
  }
  if (lost > front.mayBeLost()) front.wrong(`${String(lost)} units of ${owner.key} are lost`);
}

function checkCredits(world: World, people: People): void {
  for (const row of world.store.rows(`
    select a.id, a.credit_balance as balance,
           (select coalesce(sum(amount), 0) from credit_entries where account_id = a.id) as ledger,
           (select min(balance_after) from credit_entries where account_id = a.id) as least
    from accounts a`)) {
    if (row["balance"] !== row["ledger"])
      people.front.wrong("a balance is not the sum of its ledger");
    if (Number(row["least"] ?? 0) < 0) people.front.wrong("a balance was negative");
  }
  const [unlike] = world.store.rows(`
    select count(*) as count from credit_entries join charges on charges.id = credit_entries.reference
    where reason = 'charge' and credit_entries.amount <> -charges.amount`);
  if (textOf(unlike, "count") !== "0") people.front.wrong("credits paid another price");
  for (const row of world.store.rows("select amount, refunded from charges")) {
    if (Number(row["refunded"]) > Number(row["amount"]))
      people.front.wrong("a refund exceeds its charge");
  }
}

function checkJobs(world: World, people: People): void {
  const nowMs = world.timeline.beganMs + world.timeline.nowMs;
  const [old] = world.store.rows(
    `select count(*) as count from jobs where expires_at_ms < ${String(nowMs - OLD_MS)}`,
  );
  if (Number(old?.["count"]) > 0) people.front.wrong("old sessions are not deleted");
  const [row] = world.store.rows(`
    select count(*) as count from jobs
    where state = 'completed' and (open_chunks <> 0 or processed <> unique_count)`);
  if (textOf(row, "count") !== "0") people.front.wrong("a completed job is not whole");
  const [locks] = world.store.rows(`
    select count(*) as count from retry_keys
    where answer is null and locked_until_ms < ${String(world.timeline.beganMs + world.timeline.nowMs - 60_000)}`);
  if (Number(locks?.["count"]) > 50) people.front.wrong("locks of dead requests stay");
}

const sessionOf = ({ body }: Pick<Received, "body">): string =>
  /"session":"([0-9a-f]{32})"/.exec(body)?.[1] ?? "";

/** A webhook comes from us, to the owner of its session, and says what came of it. */
function checkContent({ front, batches }: People, webhook: Received): void {
  const to = front.owners.find((owner) => owner.webhook?.url === webhook.url)?.webhook;
  if (to === undefined) return front.wrong("a webhook went to nobody's address");
  const signature = createHmac("sha256", to.secret).update(webhook.body).digest("hex");
  if (signature !== webhook.signature) front.wrong("a webhook's signature is wrong");
  const session = sessionOf(webhook);
  const known = batches.finished.findLast((one) => one.session === session);
  if (known === undefined) return;
  if (known.owner.webhook?.url !== webhook.url) front.wrong("a webhook went to another owner");
  const { data } = JSON.parse(webhook.body) as { data: { stats: { valid: number } } };
  const isRight = data.stats.valid === known.want.fates.valid;
  if (!isRight && !front.weather.namesFail) front.wrong("a webhook says other numbers");
}

/** At most one webhook for a batch; exactly one where no process died. */
function checkWebhooks(world: World, people: People, before: Before): void {
  const { front, batches } = people;
  const told = world.told;
  for (const webhook of world.received.splice(0)) {
    checkContent(people, webhook);
    const session = sessionOf(webhook);
    told.set(session, (told.get(session) ?? 0) + 1);
    if (told.get(session) === 2) front.wrong(`two webhooks of session ${session}`);
  }
  const { storeFails, hasKills } = front.weather;
  if (world.kills > before.kills || storeFails || hasKills) return;
  const isTold = ({ session, owner, endedMs }: Finished): boolean =>
    told.has(session) || owner.webhook === undefined || endedMs < before.atMs;
  for (const one of batches.finished.filter((each) => !isTold(each))) {
    front.wrong(`no webhook of session ${one.session}`);
  }
  batches.finished.splice(0, batches.finished.length - 40);
}

/** Where nothing stands still or dies, a webhook that began comes to its end. */
function checkInterrupted(world: World, { front }: People, before: Before): void {
  const { storeFails, hasKills, heldUpMs } = front.weather;
  if (world.kills > before.kills || storeFails || hasKills || heldUpMs > 0) return;
  const beganMs = world.timeline.beganMs + before.atMs;
  const [row] = world.store.rows(`
    select count(*) as count from webhook_deliveries
    where state = 'interrupted' and queued_at_ms > ${String(beganMs)}`);
  if (textOf(row, "count") !== "0") front.wrong("a webhook was interrupted by nothing");
}

/** A job that was cancelled costs what its finished chunks and those under way had. */
function checkRefunds(world: World, { front }: People): void {
  for (const row of world.store.rows(`
    select refunded, (select coalesce(sum(entries), 0) from watched_chunks
      where watched_chunks.session = jobs.session and is_open = 1 and claims = 0) as untouched
    from jobs join charges on charges.id = jobs.charge_id where jobs.state = 'gone'`)) {
    if (row["refunded"] !== row["untouched"]) front.wrong("a cancelled job has another refund");
  }
}

function checkTimers(world: World, people: People): void {
  for (const { host } of world.places) {
    if (host === undefined) continue;
    const waiting = world.timeline.waiting(host.life);
    if (waiting > TIMERS_MAX)
      people.front.wrong(`${String(waiting)} timers wait in ${host.life.name}`);
  }
}

function checkStarts(world: World, { front }: People): void {
  for (const fault of world.failedStarts.splice(0))
    if (!front.weather.storeFails) front.wrong(`a process did not start: ${String(fault)}`);
}

/** A process that meets no fault logs none. */
function checkLog(world: World, people: People): void {
  for (const [event, count] of world.logged) {
    const { storeFails, isFrozen } = people.front.weather;
    const isFine = ALWAYS_FINE.has(event) || (isFrozen && LATE.has(event));
    if (!storeFails && !isFine) {
      people.front.wrong(`logged ${event}, ${String(count)} times`);
    }
  }
  world.logged.clear();
}

/** What a process that stood still says of an answer that came meanwhile. */
const LATE = new Set(["policies.read_failed"]);

/** Warnings that follow from a kill or a freeze, and what tells of name servers and callers beyond their rates. */
const ALWAYS_FINE = new Set([
  "health.broken",
  "webhooks.interrupted",
  "duty.lost",
  "start.waiting_for_database",
]);

import "./one-thread.ts";
import { beginningOf, type Fault, type FaultKind, faultsOf, type Load, LOADS } from "./faults.ts";
import { FINE, type Weather } from "./front.ts";
import { People } from "./people/people.ts";
import { checkAtRest } from "./rest.ts";
import { NO_FAULTS, type StoreFaults } from "./store/store-faults.ts";
import type { Lifetime } from "./timeline.ts";
import type { Moment, Place } from "./place.ts";
import { World, type WorldOptions } from "./world.ts";

export interface RunOptions extends WorldOptions {
  readonly days: number;
  /** Busy unless given. */
  readonly load?: Load;
  /** Instead of what the seed says; for shrinking. */
  readonly faults?: readonly Fault[];
}

export interface Outcome {
  readonly hash: string;
  /** The first is what the run ended with. */
  readonly violations: readonly string[];
  readonly days: number;
  readonly events: number;
  readonly requests: number;
  readonly kills: number;
  readonly faults: readonly Fault[];
}

const BOUT_LIMIT_MS = 1_200_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MINUTE_MS = 60_000;
/** After a night: what fell due meanwhile comes, and duties are taken again. */
const AWAKE_MS = 2_000;

/** Runs a world for so many days, or until something is wrong. */
export async function run(options: RunOptions): Promise<Outcome> {
  const world = new World(options);
  const { timeline } = world;
  const { load = LOADS.busy } = options;
  const faults = options.faults ?? faultsOf(options);
  const state = { day: 0, isOver: false, people: undefined as People | undefined };
  let crash: unknown;
  const life = async (): Promise<void> => {
    const operator = await world.operator();
    const people = new People(world, operator);
    state.people = people;
    await people.begin();
    for (const place of world.places) world.start(place);
    while (world.serving() === undefined) await timeline.sleep(100);
    for (; state.day < options.days && people.front.violations.length === 0; state.day += 1) {
      if (state.day % load.everyDays > 0) await rest(world, DAY_MS);
      else
        await liveDay(people, load, (bout) =>
          faults.filter((one) => one.day === state.day && one.bout === bout),
        );
    }
  };
  life()
    .catch((fault: unknown) => (crash = fault))
    .finally(() => (state.isOver = true));
  const limitMs = options.days * 30 * HOUR_MS + BOUT_LIMIT_MS;
  try {
    await timeline.run(() => state.isOver, limitMs);
  } catch (fault) {
    crash = fault;
  }
  const violations = [...(state.people?.front.violations ?? [])];
  if (crash !== undefined) violations.push(`the run ended: ${stackOf(crash)}`);
  return {
    hash: world.hash(),
    violations,
    days: state.day,
    events: timeline.events,
    requests: state.people?.front.requests ?? 0,
    kills: world.kills,
    faults,
  };
}

async function liveDay(
  people: People,
  load: Load,
  faultsIn: (bout: number) => readonly Fault[],
): Promise<void> {
  const { world, front } = people;
  for (let bout = 0; bout < load.bouts && front.violations.length === 0; bout += 1) {
    await runBout(people, load, faultsIn(bout));
    if (world.chance.isTrue(0.25)) await lookBack(people);
    await rest(world, (world.chance.between(18, 28) * HOUR_MS) / load.bouts);
  }
}

/** The world stands still; some names have mail afterwards, and others have none. */
async function rest(world: World, ms: number): Promise<void> {
  world.leap(ms);
  world.names.isEbb = world.chance.isTrue(0.5);
  await world.timeline.sleep(AWAKE_MS);
}

/** Somebody comes back for results, in time or too late. */
async function lookBack({ front, batches, world }: People): Promise<void> {
  front.weather = FINE;
  world.leap(world.chance.between(5, 75) * MINUTE_MS);
  await world.timeline.sleep(AWAKE_MS);
  front.open();
  await batches.lookAtLast();
}

const stackOf = (fault: unknown): string =>
  fault instanceof Error ? (fault.stack ?? fault.message) : String(fault);

async function runBout(people: People, load: Load, faults: readonly Fault[]): Promise<void> {
  const { world } = people;
  const before = { kills: world.kills, atMs: world.timeline.nowMs };
  const { front } = people;
  front.open();
  front.weather = weatherOf(faults);
  const { hasKills, hasRestarts, storeFails } = front.weather;
  if (storeFails && (hasKills || hasRestarts)) front.mayLose(100);
  const callOff = faults.map((fault) =>
    world.timeline.after(undefined, fault.atMs, () => strike(world, fault)),
  );
  await people.greet();
  await Promise.all(
    Array.from({ length: load.people }, () => people.live(load.actions, faults.map(beginningOf))),
  );
  for (const end of callOff) end();
  calm(world);
  await checkAtRest(world, people, before);
}

function weatherOf(faults: readonly Fault[]): Weather {
  const has = (...kinds: readonly Fault["kind"][]): boolean =>
    faults.some(({ kind }) => kinds.includes(kind));
  const still = faults.filter(({ kind }) => kind === "freeze");
  const skews = faults.filter(({ kind }) => kind === "step_clock").map(skewOf);
  return {
    storeFails: has("store_fails", "commits_fail"),
    namesFail: has("silent_names"),
    hasKills: has("kill", "kill_at_step"),
    hasRestarts: has("restart", "upgrade"),
    isFrozen: has("freeze"),
    heldUpMs: 2 * Math.max(0, ...still.map(({ amount }) => amount)),
    skewMs: { least: Math.min(0, ...skews), most: Math.max(0, ...skews) },
  };
}

type Strike = (world: World, place: Place, life: Lifetime, fault: Struck) => void;
type Struck = Pick<Fault, "amount" | "table">;

const skewOf = ({ amount }: Pick<Fault, "amount">): number => amount - 10_000;

const STRIKES: Readonly<Record<FaultKind, Strike>> = {
  kill: (world, place, _life, { amount, table }) =>
    table === undefined ? world.kill(place, amount / 5) : killHere(world, place),
  kill_at_step: (world, place, _life, { amount }) => {
    const strike = (): void => killHere(world, place);
    place.moment = { writesLeft: 0, stepsLeft: amount, at: place, strike };
  },
  restart: (world, place) => world.restart(place, false),
  upgrade: (world, place) => world.restart(place, true),
  freeze: ({ timeline }, _place, life, { amount }) =>
    (life.frozenUntilMs = timeline.nowMs + amount),
  silent_names: ({ timeline, names }, _place, _life, { amount }) =>
    (names.silentUntilMs = timeline.nowMs + amount),
  step_clock: (_world, _place, life, { amount }) => (life.skewMs = skewOf({ amount })),
  store_fails: (world, _place, _life, { amount, table }) =>
    table === undefined
      ? storeFault(world, { failing: 0.2 }, amount)
      : storeFault(world, { failing: 0.6 }, amount / 20),
  commits_fail: (world, _place, _life, { amount, table }) =>
    storeFault(world, { commitsFailing: 0.6 }, table === undefined ? amount : amount / 5),
};

const killHere = (world: World, place: Place): void =>
  world.kill(place, world.chance.between(200, 4_000));

/** Writes to let pass; most often the first is of interest. */
const WRITES = [1, 1, 1, 2, 2, 3, 4, 5] as const;

/** Up to 5 writes to the table by anyone, and then up to 10 steps of the last writer: its transaction's end is among them. */
function waitForWrite(world: World, amount: number, table: string, strike: Moment["strike"]): void {
  const whole = Math.floor(amount);
  const writesLeft = WRITES[whole % WRITES.length] ?? 1;
  const stepsLeft = 1 + (Math.floor(whole / WRITES.length) % 10);
  const moment: Moment = { writesLeft, stepsLeft, at: undefined, strike, table };
  for (const place of world.places) place.moment = moment;
}

/** For up to 5 s. */
function storeFault(
  { store, timeline }: World,
  faults: Partial<StoreFaults>,
  amount: number,
): void {
  Object.assign(store.faults, faults);
  timeline.after(undefined, Math.min(amount, 5_000), () => {
    Object.assign(store.faults, NO_FAULTS);
  });
}

function strike(world: World, fault: Fault): void {
  const { kind, place: index, amount, table } = fault;
  const chosen = world.places[index];
  const now = (place: Place | undefined): void => {
    if (place === undefined) return;
    const life = place.host?.life;
    if (life === undefined) return;
    world.note(`fault ${kind} ${life.name} ${amount.toFixed(0)}`);
    STRIKES[kind](world, place, life, fault);
  };
  if (table === undefined) now(chosen);
  else waitForWrite(world, amount, table, now);
}

/** No new faults, and those that last are over. */
function calm(world: World): void {
  Object.assign(world.store.faults, NO_FAULTS);
  world.names.silentUntilMs = 0;
  for (const place of world.places) {
    place.moment = undefined;
    if (place.host !== undefined) place.host.life.skewMs = 0;
  }
}

import "./one-thread.ts";
import { Chance } from "./chance.ts";
import type { Weather } from "./front.ts";
import { People } from "./people.ts";
import { checkAtRest } from "./rest.ts";
import { World, type WorldOptions } from "./world.ts";

/** One fault of a bout. */
export interface Fault {
  readonly day: number;
  readonly bout: number;
  readonly kind: "kill" | "kill_at_step" | "freeze" | "silent_names" | "step_clock" | "store_fails";
  /** From the beginning of the bout. */
  readonly atMs: number;
  /** Which process, of those there are. */
  readonly place: number;
  /** How long, or how many steps. */
  readonly amount: number;
}

export interface RunOptions extends WorldOptions {
  readonly days: number;
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

const BOUTS = 2;
const PEOPLE = 3;
const ACTIONS = 4;
const BOUT_LIMIT_MS = 1_200_000;
const HOUR_MS = 3_600_000;

const KINDS: readonly Fault["kind"][] = [
  "kill",
  "kill",
  "kill_at_step",
  "kill_at_step",
  "kill_at_step",
  "freeze",
  "freeze",
  "step_clock",
  "silent_names",
  "store_fails",
];

/** The faults that a seed has for so many days; half of the bouts have none. */
export function faultsOf({ seed, days, servers, workers }: Omit<RunOptions, "trace">): Fault[] {
  const chance = new Chance(seed ^ 0x5eed);
  const faults: Fault[] = [];
  for (let day = 0; day < days; day += 1) {
    for (let bout = 0; bout < BOUTS; bout += 1) {
      const count = chance.isTrue(0.6) ? 0 : 1 + chance.below(2);
      for (let index = 0; index < count; index += 1) {
        const kind = chance.pick(KINDS);
        const amount = kind === "kill_at_step" ? 1 + chance.below(60) : chance.between(500, 20_000);
        const place = chance.below(workers === 0 ? 1 : servers + workers);
        faults.push({ day, bout, kind, atMs: chance.between(0, 8_000), place, amount });
      }
    }
  }
  return faults;
}

/** Runs a world for so many days, or until something is wrong. */
export async function run(options: RunOptions): Promise<Outcome> {
  const world = new World(options);
  const { timeline } = world;
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
      for (let bout = 0; bout < BOUTS && people.front.violations.length === 0; bout += 1) {
        const now = faults.filter((one) => one.day === state.day && one.bout === bout);
        await runBout(world, people, now);
        timeline.leap(world.chance.between(9, 14) * HOUR_MS);
        await timeline.sleep(10_000);
      }
    }
  };
  life()
    .catch((fault: unknown) => (crash = fault))
    .finally(() => (state.isOver = true));
  const limitMs = options.days * 2 * 15 * HOUR_MS + BOUT_LIMIT_MS;
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

const stackOf = (fault: unknown): string =>
  fault instanceof Error ? (fault.stack ?? fault.message) : String(fault);

async function runBout(world: World, people: People, faults: readonly Fault[]): Promise<void> {
  const before = { kills: world.kills, atMs: world.timeline.nowMs };
  const { front } = people;
  front.weather = weatherOf(faults);
  if (front.weather.hasKills || front.weather.storeFails) front.mayBeLost += 10;
  for (const fault of faults) {
    world.timeline.after(undefined, fault.atMs, () => strike(world, fault));
  }
  await Promise.all(Array.from({ length: PEOPLE }, () => people.live(ACTIONS)));
  calm(world);
  await checkAtRest(world, people, before);
}

function weatherOf(faults: readonly Fault[]): Weather {
  const has = (...kinds: readonly Fault["kind"][]): boolean =>
    faults.some(({ kind }) => kinds.includes(kind));
  const frozen = faults.filter(({ kind }) => kind === "freeze").map(({ amount }) => amount);
  return {
    storeFails: has("store_fails"),
    namesFail: has("silent_names"),
    hasKills: has("kill", "kill_at_step"),
    frozenMs: 2 * Math.max(0, ...frozen),
  };
}

function strike(world: World, { kind, place: index, amount }: Fault): void {
  const place = world.places[index];
  const life = place?.host?.life;
  if (place === undefined || life === undefined) return;
  world.note(`fault ${kind} ${life.name} ${amount.toFixed(0)}`);
  const { timeline, store } = world;
  if (kind === "kill") world.kill(place, amount / 5);
  else if (kind === "kill_at_step") place.dieAtStep = amount;
  else if (kind === "freeze") life.frozenUntilMs = timeline.nowMs + amount;
  else if (kind === "silent_names") world.names.silentUntilMs = timeline.nowMs + amount;
  else if (kind === "step_clock") life.skewMs = amount - 10_000;
  else {
    store.faults.failing = 0.2;
    timeline.after(undefined, Math.min(amount, 5_000), () => (store.faults.failing = 0));
  }
}

/** No new faults, and those that last are over. */
function calm(world: World): void {
  world.store.faults.failing = 0;
  world.names.silentUntilMs = 0;
  for (const place of world.places) {
    place.dieAtStep = Infinity;
    if (place.host !== undefined) place.host.life.skewMs = 0;
  }
}

import { Chance } from "./chance.ts";

export type FaultKind =
  | ("kill" | "kill_at_step" | "kill_at_write" | "freeze" | "freeze_at_write")
  | ("silent_names" | "step_clock" | "store_fails")
  | (
      | "store_cut"
      | "store_conflicts"
      | "store_slow"
      | "redis_cut"
      | "redis_silent"
      | "redis_restarts"
    );

/** One fault of a bout. */
export interface Fault {
  readonly day: number;
  readonly bout: number;
  readonly kind: FaultKind;
  /** From the beginning of the bout. */
  readonly atMs: number;
  /** Which process, of those there are. */
  readonly place: number;
  /** How long, or how many steps. */
  readonly amount: number;
  /** Whose writing it waits for. */
  readonly table?: string;
}

/** How much happens on a day. */
export interface Load {
  readonly bouts: number;
  readonly people: number;
  /** Of each person in a bout. */
  readonly actions: number;
}

export const LOADS = {
  busy: { bouts: 2, people: 3, actions: 4 },
  light: { bouts: 1, people: 1, actions: 3 },
} as const satisfies Record<string, Load>;

const KINDS: readonly FaultKind[] = [
  "kill",
  "kill",
  "kill_at_step",
  "kill_at_step",
  "kill_at_write",
  "kill_at_write",
  "kill_at_write",
  "freeze",
  "freeze_at_write",
  "freeze_at_write",
  "step_clock",
  "silent_names",
  "store_fails",
];

export const STORE_KINDS = {
  store: ["store_fails", "store_cut"],
  redis: ["redis_cut", "redis_silent", "redis_restarts"],
} as const satisfies Record<string, readonly FaultKind[]>;

/** Of stores that several processes share. */
const SCALED_KINDS: readonly FaultKind[] = [
  ...KINDS,
  "store_cut",
  "store_conflicts",
  "store_slow",
  ...STORE_KINDS.redis,
];

/** Between whose writes a fault may come; people then begin with a batch. */
const TABLES = ["jobs", "chunks", "chunks", "retry_keys", "webhook_deliveries", "usage_days"];

interface Choice {
  readonly kinds: readonly FaultKind[];
  readonly places: number;
  readonly actions: number;
}

function faultOf(chance: Chance, { kinds, places, actions }: Choice): Omit<Fault, "day" | "bout"> {
  const kind = chance.pick(kinds);
  const amount = kind === "kill_at_step" ? 1 + chance.below(60) : chance.between(500, 20_000);
  const place = chance.below(places);
  const anyMs = chance.between(0, 2_000 * actions);
  const table = chance.pick(TABLES);
  const isAtWrite = kind === "kill_at_write" || kind === "freeze_at_write";
  return { kind, place, amount, ...(isAtWrite ? { atMs: 0, table } : { atMs: anyMs }) };
}

interface FaultOptions {
  readonly seed: number;
  readonly days: number;
  readonly servers: number;
  readonly workers: number;
  /** Busy unless given. */
  readonly load?: Load;
}

/** The faults that a seed has for so many days; half of the bouts have none. */
export function faultsOf(options: FaultOptions): Fault[] {
  const { seed, days, servers, workers, load = LOADS.busy } = options;
  const chance = new Chance(seed ^ 0x5eed);
  const faults: Fault[] = [];
  for (let day = 0; day < days; day += 1) {
    for (let bout = 0; bout < load.bouts; bout += 1) {
      const count = chance.isTrue(0.6) ? 0 : 1 + chance.below(2);
      const places = workers === 0 ? 1 : servers + workers;
      const kinds = workers === 0 ? KINDS : SCALED_KINDS;
      for (let index = 0; index < count; index += 1) {
        faults.push({ day, bout, ...faultOf(chance, { kinds, places, actions: load.actions }) });
      }
    }
  }
  return faults;
}

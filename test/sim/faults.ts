import { Chance } from "./chance.ts";

export type FaultKind =
  | ("kill" | "kill_at_step" | "restart" | "upgrade" | "freeze" | "silent_names" | "step_clock")
  | ("store_fails" | "commits_fail");

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

/** How much happens. */
export interface Load {
  /** On one day of so many somebody comes; on the others the processes wake for a moment. */
  readonly everyDays: number;
  /** On such a day. */
  readonly bouts: number;
  readonly people: number;
  /** Of each person in a bout. */
  readonly actions: number;
}

export const LOADS = {
  busy: { everyDays: 1, bouts: 2, people: 3, actions: 4 },
  steady: { everyDays: 1, bouts: 2, people: 1, actions: 3 },
  light: { everyDays: 7, bouts: 1, people: 1, actions: 3 },
} as const satisfies Record<string, Load>;

type Kinds = readonly (readonly [kind: FaultKind, share: number, atWrites: number])[];

/** How often each comes, and the share of them that waits for a write. */
const KINDS: Kinds = [
  ["kill", 5, 0.6],
  ["kill_at_step", 2, 0],
  ["restart", 1, 0.5],
  ["upgrade", 1, 0.5],
  ["freeze", 3, 0.7],
  ["step_clock", 1, 0],
  ["silent_names", 1, 0],
  ["store_fails", 1.2, 0.5],
  ["commits_fail", 1.2, 0.5],
];

/** Between whose writes a fault may come; people then begin with what writes there. */
const BATCH_TABLES = ["jobs", "chunks", "chunks", "retry_keys", "webhook_deliveries"];
const UNIT_TABLES = ["usage_days", "usage_days", "charges", "outcome_counts"];

/** What people begin with where this fault comes. */
export function beginningOf({ kind, table }: Fault): "job" | "rush" | undefined {
  if (table !== undefined) return BATCH_TABLES.includes(table) ? "job" : "rush";
  return comesInRush(kind) ? "rush" : undefined;
}

const comesInRush = (kind: FaultKind): boolean =>
  ["restart", "upgrade", "store_fails", "commits_fail"].includes(kind);

/** A rush takes so long. */
const RUSH_MS = 2_500;

interface Choice {
  readonly actions: number;
}

function kindOf(chance: Chance, kinds: Kinds): Kinds[number] {
  let left = chance.next() * kinds.reduce((sum, [, share]) => sum + share, 0);
  return kinds.find(([, share]) => (left -= share) < 0) ?? ["kill", 1, 0];
}

function faultOf(chance: Chance, { actions }: Choice): Omit<Fault, "day" | "bout"> {
  const [kind, , atWrites] = kindOf(chance, KINDS);
  const amount = kind === "kill_at_step" ? 1 + chance.below(60) : chance.between(500, 20_000);
  const place = 0;
  const withinMs = comesInRush(kind) ? RUSH_MS : 1_500 * actions;
  const anyMs = chance.between(0, withinMs);
  const table = chance.pick(chance.isTrue(0.65) ? BATCH_TABLES : UNIT_TABLES);
  const isAtWrite = chance.isTrue(atWrites);
  return { kind, place, amount, ...(isAtWrite ? { atMs: 0, table } : { atMs: anyMs }) };
}

interface FaultOptions {
  readonly seed: number;
  readonly days: number;
  /** Busy unless given. */
  readonly load?: Load;
}

/** The faults that a seed has for so many days; three bouts in ten have none. */
export function faultsOf(options: FaultOptions): Fault[] {
  const { seed, days, load = LOADS.busy } = options;
  const chance = new Chance(seed ^ 0x5eed);
  const faults: Fault[] = [];
  for (let day = 0; day < days; day += load.everyDays) {
    for (let bout = 0; bout < load.bouts; bout += 1) {
      const count = chance.isTrue(0.3) ? 0 : 1 + chance.below(3);
      for (let index = 0; index < count; index += 1) {
        faults.push({ day, bout, ...faultOf(chance, { actions: load.actions }) });
      }
    }
  }
  return faults;
}

import type { Host } from "./machine.ts";

/** When a fault comes that waits for what its process does. */
export interface Moment {
  /** Writes to this table are let pass first, and then steps before and after statements. */
  readonly table?: string;
  writesLeft: number;
  stepsLeft: number;
  /** Who did the last of the writes; its steps count. */
  at: Place | undefined;
  readonly strike: (place: Place) => void;
}

/** One place where a server or worker runs, again and again. */
export interface Place {
  readonly kind: "server" | "worker";
  readonly name: string;
  host: Host | undefined;
  starts: number;
  /** How many migrations of later versions its program has. */
  later: number;
  moment: Moment | undefined;
  /** Ends the requests that are under way there. */
  readonly cut: Set<() => void>;
}

export const newPlace = (kind: Place["kind"], index: number): Place => {
  const name = `${kind}${String(index)}`;
  return { kind, name, host: undefined, starts: 0, later: 0, moment: undefined, cut: new Set() };
};

const WRITES = /^(?:insert|update|delete) /;

const isWriteTo = (table: string | undefined, sql: string): boolean =>
  table !== undefined && WRITES.test(sql) && sql.includes(`"${table}"`);

/** A process is before or after a statement: its moment may have come. */
export function stepAt(place: Place, { life }: Pick<Host, "life">, sql: string): void {
  const { moment } = place;
  if (!life.isAlive || moment === undefined || (moment.at ?? place) !== place) return;
  if (moment.writesLeft > 0) {
    if (isWriteTo(moment.table, sql)) moment.writesLeft -= 1;
    if (moment.writesLeft > 0) return;
    moment.at = place;
  }
  moment.stepsLeft -= 1;
  if (moment.stepsLeft > 0) return;
  place.moment = undefined;
  moment.strike(place);
}

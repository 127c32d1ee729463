/** What the reference model knows of one owner: bounds of what may have been charged, and what is under way. */
export interface Owner {
  /** "account:<id>" or "bucket:<bucket>". */
  readonly key: string;
  readonly headers: Record<string, string>;
  readonly address: string;
  readonly dailyLimit: number;
  /** When the operator granted credits last. */
  grantedAtMs: number;
  /** By UTC day: units that were certainly charged, and units that may have been beside them. */
  readonly charged: Map<number, Charged>;
  /** Sessions that were accepted and are not over, as far as the client knows. */
  readonly open: Set<string>;
  /** Bulk requests under way or cut off: each may have a job that the client does not know of. */
  unknownJobs: number;
  /** An answer that left before this time may still know of a job that is over. */
  busyUntilMs: number;
  webhook: { readonly url: string; readonly secret: string } | undefined;
  /** How often all of its older keys were revoked. */
  revocations: number;
}

export interface Charged {
  certain: number;
  possible: number;
  /** What was possible and turned out not to be, and when: until then it may have stood in others' way. */
  readonly freed: { readonly atMs: number; readonly units: number }[];
}

/** Since that time, and what is charged or possible now. */
export const mostSince = ({ certain, possible, freed }: Charged, sinceMs: number): number =>
  freed
    .filter(({ atMs }) => atMs >= sinceMs)
    .reduce((sum, { units }) => sum + units, certain + possible);

export function newOwner(known: Pick<Owner, "key" | "headers" | "address" | "dailyLimit">): Owner {
  const state = {
    grantedAtMs: 0,
    unknownJobs: 0,
    busyUntilMs: 0,
    webhook: undefined,
    revocations: 0,
  };
  return { ...known, ...state, charged: new Map(), open: new Set() };
}

export function chargedOn(owner: Owner, day: number): Charged {
  const known = owner.charged.get(day) ?? { certain: 0, possible: 0, freed: [] };
  owner.charged.set(day, known);
  return known;
}

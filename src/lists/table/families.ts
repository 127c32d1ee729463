import type { FeedSource, Rules } from "../../core/evidence/datasets.ts";
import { registrableOf } from "../../core/name/domain.ts";
import { FAMILY_EXCEPTIONS } from "../../core/tables/data.ts";
import { attachNameTable, nameTableBuilder, namesOfTable } from "./name-table.ts";

const nothing = (): undefined => undefined;

/** An operator who has said nothing yet. */
export const noRules: Rules = {
  domain: nothing,
  named: nothing,
  mailHost: nothing,
  address: nothing,
  trap: nothing,
  names: () => [],
  isFeedOff: () => false,
};

/** This many curated names below one registrable domain show that one service owns the domain. */
const FAMILY_MIN = 3;

export const curatedBits = (sources: readonly FeedSource[]): number =>
  sources.reduce((bits, { kind }, bit) => bits | (kind === "curated" ? 1 << bit : 0), 0);

/** Registrable domains with `FAMILY_MIN` curated names below them, and the bits of the feeds that hold those. */
export function packFamilies(
  sources: readonly FeedSource[],
  disposable: SharedArrayBuffer,
  exceptions: ReadonlySet<string>,
): SharedArrayBuffer {
  return familiesOf(
    disposable,
    curatedBits(sources),
    (name) => !isNoFamily(name) && !exceptions.has(name),
  );
}

const isNoFamily = (registrable: string): boolean =>
  FAMILY_EXCEPTIONS.has(registrable) || registrable.endsWith(".arpa");

function familiesOf(
  disposable: ArrayBufferLike,
  curated: number,
  mayBeFamily: (registrable: string) => boolean,
): SharedArrayBuffer {
  const families = new Map<string, { count: number; bits: number }>();
  for (const [name, bits] of namesOfTable(disposable, curated)) {
    const registrable = registrableOf(name);
    if (registrable === undefined || registrable === name || !mayBeFamily(registrable)) continue;
    const family = families.get(registrable) ?? { count: 0, bits: 0 };
    families.set(registrable, { count: family.count + 1, bits: family.bits | (bits & curated) });
  }
  const builder = nameTableBuilder();
  for (const [name, { count, bits }] of families) if (count >= FAMILY_MIN) builder.put(name, bits);
  return builder.finish();
}

interface Packed {
  readonly sources: readonly FeedSource[];
  readonly disposable: ArrayBufferLike;
  readonly families: ArrayBufferLike;
}

/** What was counted without the feeds that are off, of the tables in use: counting takes some 30 ms. */
const counted = new WeakMap<ArrayBufferLike, Map<number, ArrayBufferLike>>();

/** The families that the feeds which are on show by themselves. */
export function familiesUnder(rules: Rules, packed: Packed): ArrayBufferLike {
  const { sources, disposable, families } = packed;
  const all = curatedBits(sources);
  const on = curatedBits(
    sources.map((feed) => (rules.isFeedOff(feed.id) ? { ...feed, kind: "weak" } : feed)),
  );
  if (on === all) return families;
  const known = counted.get(disposable) ?? new Map<number, ArrayBufferLike>();
  counted.set(disposable, known);
  const before = known.get(on);
  if (before !== undefined) return before;
  const full = attachNameTable(families);
  const fewer = familiesOf(disposable, on, (name) => full.sourcesOf(name) !== 0);
  known.set(on, fewer);
  return fewer;
}

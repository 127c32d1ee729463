import type { Datasets } from "./datasets.ts";

/** What the lists say of one name: `strong` is certain, `single` one uncurated list's word. */
export interface Standing {
  readonly strength: "strong" | "single";
  readonly name: string;
  /** Bits of `Datasets.sources`; 0 when the operator says so. */
  readonly sources: number;
}

/**
 * Strong: a curated list holds exactly this name, or two others do, or the operator denies it. Undefined
 * when nothing holds it or the operator allows it.
 */
export function standingOf(name: string, datasets: Datasets): Standing | undefined {
  const word = datasets.operator.domain(name);
  if (word === undefined) return listStanding(name, datasets);
  return word === "deny" ? denied(name) : undefined;
}

const denied = (name: string): Standing => ({ strength: "strong", name, sources: 0 });

function listStanding(name: string, datasets: Datasets): Standing | undefined {
  const sources = datasets.disposable.sourcesOf(name);
  if (sources === 0) return undefined;
  const strength = isCertain(sources, datasets) ? "strong" : "single";
  return { strength, name, sources };
}

function isCertain(sources: number, datasets: Datasets): boolean {
  const isOneList = (sources & (sources - 1)) === 0;
  return !isOneList || datasets.sources.some(({ curated }, bit) => curated && sources >> bit === 1);
}

/** As `standingOf`, of a name that lends its reputation to others: a known-good one lends none. */
export function lentStanding(name: string, datasets: Datasets): Standing | undefined {
  return unlessGood(standingOf(name, datasets), datasets);
}

/**
 * As `lentStanding`, of a mail host or the registrable domain above one. The operator denies it by an entry on the
 * very name: "*.suffix" is about the domains below it, and their neighbours' mail may go there too.
 */
export function hostStanding(name: string, datasets: Datasets): Standing | undefined {
  const { operator } = datasets;
  if (operator.named(name) === "deny") return denied(name);
  if (operator.domain(name) === "allow") return undefined;
  return unlessGood(listStanding(name, datasets), datasets);
}

function unlessGood(standing: Standing | undefined, { knownGood }: Datasets): Standing | undefined {
  if (standing === undefined || standing.sources === 0) return standing;
  return knownGood.has(standing.name) ? undefined : standing;
}

import { type Evidence, SIGNALS, type Signal } from "./signals.ts";
import { type Domain, SIGNALS_MAX } from "../name/domain.ts";
import type { Datasets } from "./datasets.ts";
import { domainEvidence } from "./domain-evidence.ts";
import { isKnownGood } from "./list-evidence.ts";
import type { MailHosts } from "../mail/mail-hosts.ts";

/** What lists, rules and mail hosts say of a domain by itself: no address, no DNS evidence, no premium check. */
export function domainVerdict(domain: Domain, mail: MailHosts, datasets: Datasets): Verdict {
  const pieces = domainEvidence(domain, mail, datasets);
  return weigh(isKnownGood(domain.name, datasets) ? excuse(pieces) : pieces);
}

export interface Verdict {
  readonly disposable: boolean;
  readonly confidence: number;
  /** Most important first, no signal twice. */
  readonly evidence: readonly Evidence[];
}

const DISPOSABLE_AT = 50;

const RANK: ReadonlyMap<string, number> = new Map(
  Object.keys(SIGNALS).map((name, index) => [name, index]),
);

const rank = (signal: Signal): number => RANK.get(signal) ?? 0;

/** `confidence = round(100 * (1 - product(1 - weight)))`; pieces of evidence are taken as independent. */
export function weigh(pieces: readonly Evidence[]): Verdict {
  if (pieces.length === 0) return NOTHING_FOUND;
  const ordered = distinct(pieces);
  // Rounded to 12 digits first, for 1 - 0.7 * 0.65 is 0.5449999... and means 0.545.
  const doubt = ordered.reduce((product, { weight }) => product * (1 - weight), 1);
  const confidence = Math.round(Number((100 * (1 - doubt)).toFixed(10)));
  return { disposable: confidence >= DISPOSABLE_AT, confidence, evidence: ordered };
}

const NOTHING_FOUND: Verdict = { disposable: false, confidence: 0, evidence: [] };

function distinct(pieces: readonly Evidence[]): readonly Evidence[] {
  const sorted = [...pieces].sort((a, b) => b.weight - a.weight || rank(a.signal) - rank(b.signal));
  const seen = new Set<Signal>();
  const kept = sorted.filter(({ signal }) => !seen.has(signal) && seen.add(signal));
  return kept.slice(0, SIGNALS_MAX);
}

/** Drops what speaks against the domain, and the weight of what DNS says; what speaks against the very address stays. */
export function excuse(pieces: readonly Evidence[]): readonly Evidence[] {
  return pieces
    .filter(({ signal }) => SIGNALS[signal].about !== "domain")
    .map((piece) => (SIGNALS[piece.signal].about === "dns" ? { ...piece, weight: 0 } : piece));
}

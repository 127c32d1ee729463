import { SIGNALS, type Signal } from "../../core/evidence/signals.ts";
import type { EvidenceShape } from "../api/shapes.ts";
import { t } from "../app/i18n.ts";
import { counted } from "../app/numbers.ts";

/** A signal with its part of the score. */
export interface Share {
  readonly piece: EvidenceShape;
  /** Points of the score: the shares of all pieces add up to it. */
  readonly points: number;
  /** Where its bar begins: the points of those before it. */
  readonly from: number;
}

/**
 * What each signal adds to the score, strongest first: its weight counts on what those before it left open. Rounded
 * by the largest remainder, so that the shares add up to `confidence`.
 */
export function sharesOf(evidence: readonly EvidenceShape[], confidence: number): readonly Share[] {
  const counting = evidence.filter(({ weight }) => weight > 0);
  const sorted = [...counting].sort((a, b) => b.weight - a.weight);
  let open = 100;
  const exact = sorted.map(({ weight }) => {
    const part = (open * weight) / 100;
    open -= part;
    return part;
  });
  const points = exact.map(Math.floor);
  const missing = confidence - points.reduce((sum, part) => sum + part, 0);
  const byRemainder = [...exact.keys()].sort((a, b) => remainder(exact, b) - remainder(exact, a));
  for (const at of byRemainder.slice(0, Math.max(0, missing))) points[at] = (points[at] ?? 0) + 1;
  let from = 0;
  return sorted.map((piece, at) => {
    const share = { piece, points: points[at] ?? 0, from };
    from += share.points;
    return share;
  });
}

const remainder = (exact: readonly number[], at: number): number => (exact[at] ?? 0) % 1;

/** "On 4 public lists", for the signals that lists are behind. */
const onLists = ({ lists }: EvidenceShape): string =>
  counted(lists.length, "On {n} public list", "On {n} public lists");

const TITLES: Partial<Record<Signal, (piece: EvidenceShape) => string>> = {
  blacklist_exact: (piece) =>
    piece.lists.length > 0 ? onLists(piece) : t("Denied by the operator of this service"),
  blacklist_parent: () => t("Under a listed domain"),
  blacklist_single: (piece) => (piece.lists.length > 0 ? onLists(piece) : t("On a public list")),
  blacklist_mx: () => t("Its mail server is known for disposable mail"),
  mx_shared_disposable: () => t("Its mail server also serves disposable domains"),
  keyword_match: ({ subject = "" }) => t("The name contains “{word}”", { word: subject }),
  keyword_weak: ({ subject = "" }) => t("The name contains “{word}”", { word: subject }),
  lookalike_provider: ({ subject = "" }) => t("It looks like {name} and is not", { name: subject }),
  free_registry_suffix: () => t("Under a registry that gives names away"),
  disposable_account: () => t("A generated or known disposable mailbox"),
  fresh_domain: () => t("Registered less than 30 days ago"),
  dot_scatter: () => t("One mailbox under many spellings"),
  no_mx_records: () => t("No mail server"),
  null_mx: () => t("It accepts no mail"),
  implicit_mx: () => t("A web address, but no mail server"),
  mx_unresolvable: () => t("Its mail servers do not exist"),
  dns_indeterminate: () => t("DNS did not answer"),
  special_use_domain: () => t("A reserved name"),
  operator_allow: () => t("Allowed by the operator of this service"),
  privacy_relay: () => t("A forwarding service"),
  plus_alias: () => t("An alias of another address"),
  typo_domain: () => t("Probably misspelt"),
};

/** A few words for one piece of evidence. */
export const titleOf = (piece: EvidenceShape): string =>
  TITLES[piece.signal]?.(piece) ?? SIGNALS[piece.signal].short;

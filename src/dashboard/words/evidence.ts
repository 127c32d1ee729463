import { SIGNALS, type Signal } from "../../core/evidence/signals.ts";
import type { EvidenceShape } from "../api/shapes.ts";
import { shownDay } from "../app/clock.ts";
import { t } from "../app/i18n.ts";

/** "fakefilter, ded and mailchecker". `Intl.ListFormat` would take 50 ms of a first verdict. */
export function joined(names: readonly string[]): string {
  const others = names.slice(0, -1).join(", ");
  const last = names.at(-1) ?? "";
  return others === "" ? last : t("{others} and {last}", { others, last });
}

/** The day from which the first list held the name; undefined when no list says. */
export function listedSince({ lists }: EvidenceShape): string | undefined {
  const days = lists.flatMap(({ since }) => (since === null ? [] : [since.slice(0, 10)])).sort();
  return days[0] === undefined ? undefined : shownDay(days[0]);
}

/** The concrete reason: which name, which lists, since when. */
export function reasonOf(piece: EvidenceShape): string {
  const { signal, subject, lists } = piece;
  const words = subject === undefined ? undefined : foundWords(signal, subject);
  const first = words ?? t(SIGNALS[signal].short);
  const since = listedSince(piece);
  if (lists.length === 0) return sentence(first);
  const names = joined(lists.map(({ id }) => id));
  return since === undefined
    ? `${sentence(first)} ${t("Lists: {names}.", { names })}`
    : `${sentence(first)} ${t("Lists: {names}, since {day}.", { names, day: since })}`;
}

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

const FOUND: Partial<Record<Signal, string>> = {
  blacklist_exact: "{name} is on the lists of disposable domains",
  blacklist_parent: "{name}, the domain above it, is on the lists of disposable domains",
  blacklist_single: "{name} is on a list of disposable domains",
  blacklist_mx: "Mail goes to {name}, which serves disposable domains",
  mx_shared_disposable: "Mail goes to {name}, which serves listed domains and others",
  keyword_match: "Only disposable providers use the word “{name}”",
  keyword_weak: "Disposable providers like the word “{name}”; it counts little alone",
  lookalike_provider: "Its name holds “{name}”, but it is not that provider",
  free_registry_suffix: "Names under {name} cost nothing",
  disposable_account: "The part before the @: {name}",
  privacy_relay: "{name} forwards the mail to a real mailbox",
  typo_domain: "It is close to {name}, a large provider",
};

function foundWords(signal: Signal, subject: string): string | undefined {
  const words = FOUND[signal];
  return words === undefined ? undefined : t(words, { name: subject });
}

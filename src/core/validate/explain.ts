import { isoTimeOrNull } from "../calendar.ts";
import { type Advised, NOT_NOW, type AdviceWords } from "../checks/check.ts";
import { CHECKS, type Feature, type PremiumFields } from "../checks/registry.ts";
import { spamTrap } from "../checks/spam-trap.ts";
import type { Datasets } from "../evidence/datasets.ts";
import { type Described, orNull, Type } from "../json-schema.ts";
import { type Evidence, sentenceOf, type Signal, SIGNALS } from "../evidence/signals.ts";
import { registrableOf } from "../name/domain.ts";
import { REMOVAL_PAGES } from "../tables/data.ts";
import type { FormatCode } from "./malformed.ts";
import type { Validation } from "./validate.ts";

const time = Type.String({ format: "date-time" });

export const ListBehind = Type.Object({
  id: Type.String(),
  curated: Type.Boolean({ description: "Kept by hand: one hit is certain." }),
  since: orNull(time, "First seen on the list; null when it came with the program."),
  fetched_at: orNull(time, "Of the copy in use; null when it came with the program."),
  removal: Type.Optional(
    Type.String({ description: "Page where anybody may ask that the name is taken off." }),
  ),
});
export type ListBehind = Described<typeof ListBehind>;

/** Who or what says so: public lists, the operator, mail servers learned from DNS, the program's rules, DNS. */
export const SAID_BY = ["lists", "operator", "learned", "rules", "dns"] as const;
export type SaidBy = (typeof SAID_BY)[number];

export interface ExplainedSignal {
  readonly signal: Signal;
  readonly weight: number;
  readonly means: string;
  readonly subject: string | undefined;
  readonly by: SaidBy;
  readonly lists: readonly ListBehind[];
}

/** Why a validation came out as it did, most important first. Of the operator it tells that he spoke, not what he noted. */
export function explain(
  { evidence }: Pick<Validation, "evidence">,
  datasets: Datasets,
): readonly ExplainedSignal[] {
  return evidence.map((piece) => ({
    signal: piece.signal,
    weight: piece.weight,
    means: SIGNALS[piece.signal].means,
    subject: piece.subject,
    by: saidBy(piece, datasets),
    lists: listsBehind(piece, datasets),
  }));
}

const OPERATORS_ALONE: ReadonlySet<Signal> = new Set([
  "operator_allow",
  "blacklist_exact",
  "blacklist_parent",
]);

function saidBy({ signal, weight, subject, sources = 0 }: Evidence, datasets: Datasets): SaidBy {
  if (sources !== 0) return "lists";
  if (SIGNALS[signal].about === "dns") return "dns";
  if (OPERATORS_ALONE.has(signal)) return "operator";
  if (signal === "disposable_account") return weight === 1 ? "operator" : "rules";
  const isOfMail = signal === "blacklist_mx" || signal === "mx_shared_disposable";
  return isOfMail && subject !== undefined ? saidOfHost(subject, datasets) : "rules";
}

function saidOfHost(host: string, { operator, mailServers }: Datasets): SaidBy {
  const isNamed = [host, registrableOf(host) ?? host].some(
    (name) => operator.named(name) === "deny",
  );
  if (isNamed || operator.mailHost(host) === "deny") return "operator";
  return mailServers.kindOf(host) === undefined ? "rules" : "learned";
}

function listsBehind(
  { sources = 0, subject }: Evidence,
  datasets: Datasets,
): readonly ListBehind[] {
  return datasets.sources.flatMap(({ id, kind, fetchedAtMs }, bit) =>
    ((sources >> bit) & 1) === 0
      ? []
      : {
          id,
          curated: kind === "curated",
          since: isoTimeOrNull(sinceMs(subject ?? "", bit, datasets)),
          fetched_at: isoTimeOrNull(fetchedAtMs),
          ...removalOf(id),
        },
  );
}

function removalOf(id: string): Pick<ListBehind, "removal"> {
  const removal = REMOVAL_PAGES.get(id) ?? "";
  return removal === "" ? {} : { removal };
}

/** The listed name is the subject, or for a mail host the registrable domain above it. */
function sinceMs(
  subject: string,
  bit: number,
  { disposable, history }: Datasets,
): number | undefined {
  const isListed = ((disposable.sourcesOf(subject) >> bit) & 1) === 1;
  const name = isListed ? subject : (registrableOf(subject) ?? subject);
  return history?.sinceMs(name, bit);
}

export interface Advice extends AdviceWords {
  readonly check: Feature | "spam_trap";
  readonly title: string;
}

interface AdviceScope {
  readonly features: readonly Feature[];
  readonly unavailable: readonly Feature[];
}

/** One piece of advice for each asked check, in the order asked; the spam trap, where it was checked, at the end. */
export function advise(
  result: Advised & PremiumFields,
  { features, unavailable }: AdviceScope,
): readonly Advice[] {
  const pieces = features.flatMap((feature): readonly Advice[] => {
    const check = CHECKS.find(({ name }) => name === feature);
    if (check === undefined) return [];
    const { name, title } = check;
    return [
      { check: name, title, ...(unavailable.includes(name) ? NOT_NOW : check.advise(result)) },
    ];
  });
  if (result.spam_trap === undefined) return pieces;
  const { name, title } = spamTrap;
  return [...pieces, { check: name, title, ...spamTrap.advise(result) }];
}

export interface Reason {
  readonly code: Signal | FormatCode;
  readonly message: string;
  readonly weight?: number;
  readonly subject?: string;
  readonly by?: SaidBy;
  readonly lists?: readonly string[];
}

/** They are in the order of `signals`; a malformed entry has one, its fault. */
export function reasonsOf(validation: Validation, datasets: Datasets): readonly Reason[] {
  const { problem } = validation;
  if (problem !== undefined) return [{ code: problem.code, message: problem.message }];
  return explain(validation, datasets).map(({ signal, weight, subject, by, lists }) => ({
    code: signal,
    message: sentenceOf(signal, subject),
    weight,
    ...(subject !== undefined && { subject }),
    by,
    ...(lists.length > 0 && { lists: lists.map(({ id }) => id) }),
  }));
}

import type { Datasets } from "../evidence/datasets.ts";
import { registrableOf } from "../name/domain.ts";
import { type Evidence, type Signal, SIGNALS } from "../evidence/signals.ts";
import type { Validation } from "./validate.ts";

export interface ListBehind {
  readonly id: string;
  readonly curated: boolean;
  /** When the list was first seen to hold the name; undefined when it came with the program. */
  readonly sinceMs: number | undefined;
  /** When the copy in use was fetched; undefined when it came with the program. */
  readonly fetchedAtMs: number | undefined;
}

/** Who or what says so: public lists, the operator, mail servers learned from DNS, the program's rules, DNS. */
export type SaidBy = "lists" | "operator" | "learned" | "rules" | "dns";

export interface ExplainedSignal {
  readonly signal: Signal;
  readonly weight: number;
  readonly means: string;
  /** What was matched: a listed name, a mail host, a word, the provider meant. Never more than was asked about. */
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
          fetchedAtMs,
          sinceMs: since(subject ?? "", bit, datasets),
        },
  );
}

/** The listed name is the subject, or for a mail host the registrable domain above it. */
function since(
  subject: string,
  bit: number,
  { disposable, history }: Datasets,
): number | undefined {
  const isListed = ((disposable.sourcesOf(subject) >> bit) & 1) === 1;
  const name = isListed ? subject : (registrableOf(subject) ?? subject);
  return history?.sinceMs(name, bit);
}

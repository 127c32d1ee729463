import { styleText } from "node:util";
import { type Feature, FEATURES } from "../core/checks/registry.ts";
import type { Datasets } from "../core/evidence/datasets.ts";
import {
  advise,
  explain,
  type ExplainedSignal,
  type ListBehind,
  type SaidBy,
} from "../core/validate/explain.ts";
import { meantBy } from "../core/validate/malformed.ts";
import { isInconclusive } from "../core/validate/result.ts";
import type { Validation } from "../core/validate/validate.ts";
import { shown } from "./terminal.ts";

export type Paint = (colour: "green" | "red" | "yellow" | "dim" | "bold", text: string) => string;

export function painter(colours: boolean): Paint {
  return (colour, text) => (colours ? styleText(colour, text, { validateStream: false }) : text);
}

/** The verdict on one entry for a person: what, why, and where its mail goes. Ends with a line feed. */
export function verdictText(text: string, validation: Validation, view: View): string {
  const { paint } = view;
  const lines = [paint("bold", printable(text)), `  ${headline(validation, paint)}`];
  const meant = meantBy(validation);
  if (meant !== undefined) lines.push(`  ${paint("yellow", `Did you mean ${printable(meant)}?`)}`);
  if (validation.entry.kind !== "malformed") lines.push(...facts(validation));
  if (validation.evidence.length > 0) {
    lines.push("", ...explain(validation, view.datasets).map((each) => reason(each, view)));
  }
  if (validation.entry.kind !== "malformed" && view.features.length > 0) {
    lines.push("", ...adviceLines(validation, view));
  }
  return `${lines.join("\n")}\n`;
}

export interface View {
  readonly paint: Paint;
  readonly datasets: Datasets;
  /** Show for each list since when it has the name, and when it was fetched. */
  readonly dated: boolean;
  readonly features: readonly Feature[];
}

const STATE_COLOURS = { good: "green", warn: "yellow", bad: "red", unknown: "dim" } as const;

/** Wide enough for every name of a check. */
const CHECK_COLUMNS = Math.max(...FEATURES.map((name) => name.length)) + 2;

function adviceLines(
  { result, unavailable }: Validation,
  { paint, features }: View,
): readonly string[] {
  return advise(result, { features, unavailable }).flatMap(({ check, state, says, fix }) => {
    const name = paint(STATE_COLOURS[state], check.padEnd(CHECK_COLUMNS));
    const indent = " ".repeat(CHECK_COLUMNS + 2);
    return [`  ${name}${says}`, ...(fix === undefined ? [] : [`${indent}To do: ${fix}`])];
  });
}

const uncapital = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

function headline({ problem, result }: Validation, paint: Paint): string {
  if (problem !== undefined) return paint("red", `Not valid: ${uncapital(problem.message)}`);
  if (result.disposable) {
    return paint("red", `Disposable, with a confidence of ${String(result.confidence)} of 100.`);
  }
  if (result.dns) {
    return paint("green", `Fine: it can receive mail and does not look disposable.`);
  }
  if (isInconclusive(result)) {
    return paint(
      "yellow",
      "DNS did not answer, so we cannot tell whether it has a mail server. Try again later.",
    );
  }
  return paint("red", "It cannot receive mail.");
}

function facts({ result }: Validation): readonly string[] {
  const notes = [
    ...(result.whitelist ? ["known good"] : []),
    ...(result.free ? ["free mailbox provider"] : []),
    ...(result.role ? ["role address"] : []),
    ...(result.alias === true ? ["alias"] : []),
  ];
  const noHosts = isInconclusive(result) ? "unknown" : "none usable";
  return [
    fact("domain", result.domain),
    fact("mail hosts", result.mx_info?.join(", ") ?? noHosts),
    ...(notes.length === 0 ? [] : [fact("notes", notes.join(", "))]),
    fact("confidence", `${String(result.confidence)} of 100 that it is disposable`),
  ];
}

/** Who says so where the words of a signal leave it open. */
const SAID: Readonly<Partial<Record<SaidBy, string>>> = {
  operator: " The operator says so.",
  learned: " Learned from where the mail of listed domains goes.",
};

const fact = (name: string, value: string): string => `  ${name.padEnd(12)}${value}`;

function reason(each: ExplainedSignal, { paint, dated }: View): string {
  const weight = each.weight === 0 ? "    " : each.weight.toFixed(2);
  const subject = each.subject === undefined ? "" : ` (${each.subject})`;
  const lists = each.lists.map((list) => (dated ? datedList(list) : list.id));
  const by = lists.length === 0 ? "" : ` Lists: ${lists.join(", ")}.`;
  const source = dated ? (SAID[each.by] ?? "") : "";
  const name = paint("dim", `${weight} ${each.signal}${subject}`);
  const pages = dated ? each.lists.flatMap(({ removal }) => removal ?? []) : [];
  const off =
    pages.length === 0 ? "" : `\n       Ask here to have the name taken off: ${pages.join(" ")}`;
  return `  ${name}\n       ${each.means}${by}${source}${off}`;
}

function datedList({ id, since, fetched_at: fetchedAt }: ListBehind): string {
  if (fetchedAt === null) return `${id} (bundled with the program)`;
  const start = since === null ? "" : `since ${since.slice(0, 10)}, `;
  return `${id} (${start}fetched ${fetchedAt})`;
}

const printable = (text: string): string => `${shown(text)}${text.length > 300 ? "..." : ""}`;

import { FEATURES } from "../../core/checks/registry.ts";
import type { Datasets } from "../../core/evidence/datasets.ts";
import { isInconclusive } from "../../core/validate/result.ts";
import type { Validation } from "../../core/validate/validate.ts";
import { explanationJson } from "../../check/explain.ts";
import { featureNamed } from "../../check/features.ts";
import { commaNames, rowsFor } from "../command.ts";
import { CommandFailure, EXIT, type Terminal, misuse, shown } from "../terminal.ts";
import { painter, verdictText } from "../verdict-text.ts";

export interface CliValidator {
  readonly datasets: Datasets;
  readonly validate: (text: string, features: readonly string[]) => Promise<Validation>;
  /** The API's JSON of a validation: keys in the contract's order, with denial fields. */
  readonly present: (validation: Validation, features: readonly string[]) => string;
}

/** `gatepost check ENTRY...`: an entry with "@" is an address, any other a domain. */
export const checkCommand = rowsFor<CliValidator>()("check", {
  about: "check addresses and domains without a server",
  takes: (to) =>
    to
      .argument("<entry...>", 'addresses or domains; "-" reads them from standard input')
      .option("--features <list>", `comma-separated: ${FEATURES.join(", ")}, or all`, readFeatures)
      .option(
        "--explain",
        "show the lists behind each signal, since when, and when they were fetched",
      ),
  json: 'print the API\'s result; for several entries and for "-" an array whose items begin with "entry"',
  details:
    "Exit codes: 0 all fine; 1 an entry has a bad format, no mail server or is disposable;\n" +
    "3 no entry is bad, but DNS did not answer for one.",
  examples: [
    "gatepost check jo@example.com example.org",
    "gatepost check example.org --features all --explain",
    "cut -f2 people.tsv | gatepost check - --json",
  ],
  async run({ args: [words], features = [], explain, json }, validator, terminal) {
    const { entries, isList } = await entriesFrom(words, terminal);
    const { datasets } = validator;
    const validations = await Promise.all(
      entries.map((entry) => validator.validate(entry, features)),
    );
    const bodyOf = (validation: Validation): string =>
      explain === true
        ? JSON.stringify(explanationJson(validation, datasets))
        : validator.present(validation, features);
    const view = {
      paint: painter(terminal.colours),
      datasets,
      dated: explain === true,
      features: FEATURES.filter((feature) => features.includes(feature)),
    };
    const textOf = (validation: Validation, at: number): string =>
      verdictText(entries[at] ?? "", validation, view);
    const unsure = entries.filter((_, at) => validations.slice(at, at + 1).some(isUnsure));
    const silent = `DNS did not answer for ${unsure.map(shown).join(", ")}.\n`;
    return {
      text:
        json === true
          ? jsonText(validations.map(bodyOf), entries, isList)
          : validations.map(textOf).join("\n"),
      notes: unsure.length > 0 ? silent : "",
      failure: failureOf(validations),
    };
  },
});

/** They are checked all at once; longer lists are for `gatepost bulk`. */
const ENTRIES_MAX = 1_000;

interface CheckArguments {
  readonly entries: readonly string[];
  /** Of several entries and of standard input, `--json` prints an array, however many there are. */
  readonly isList: boolean;
}

/** "-" alone stands for what standard input holds, separated as in a bulk list. */
export async function entriesFrom(
  words: readonly string[],
  { readText }: Terminal,
): Promise<CheckArguments> {
  if (!words.includes("-")) return { entries: words, isList: words.length > 1 };
  if (words.length > 1) throw misuse('"-" reads all entries from standard input; give no others');
  const entries = (await readText("-")).split(/[ ,\t\r\n]+/).filter((entry) => entry !== "");
  if (entries.length === 0) throw misuse("standard input has no entries");
  if (entries.length > ENTRIES_MAX) {
    throw misuse(`more than ${String(ENTRIES_MAX)} entries; use gatepost bulk`);
  }
  return { entries, isList: true };
}

function jsonText(bodies: readonly string[], entries: readonly string[], isList: boolean): string {
  if (!isList) return `${bodies[0] ?? ""}\n`;
  const items = bodies.map(
    (body, at) => `{"entry":${JSON.stringify(entries[at] ?? "")},${body.slice(1)}`,
  );
  return `[${items.join(",\n")}]\n`;
}

function readFeatures(option: string): readonly string[] {
  const names = commaNames(option.toLowerCase());
  const unknown = names.find((name) => name !== "all" && featureNamed(name) === undefined);
  if (unknown !== undefined) {
    throw misuse(
      `--features: unknown feature ${shown(unknown)}; use ${FEATURES.join(", ")} or all`,
    );
  }
  return names.includes("all") ? FEATURES : names;
}

const isUnsure = ({ result }: Validation): boolean => isInconclusive(result);

/** 1 if an entry is bad; 3 if none is bad but DNS did not answer for one. */
function failureOf(validations: readonly Validation[]): CommandFailure | undefined {
  const wrong = (each: Validation): boolean =>
    !each.result.format || each.result.disposable || (!each.result.dns && !isUnsure(each));
  if (validations.some(wrong)) return new CommandFailure(EXIT.no);
  return validations.some(isUnsure) ? new CommandFailure(EXIT.failed) : undefined;
}

import { Command } from "commander";
import { FEATURES } from "../../core/checks/registry.ts";
import type { Datasets } from "../../core/evidence/datasets.ts";
import { isInconclusive } from "../../core/validate/result.ts";
import type { Validation } from "../../core/validate/validate.ts";
import { explanationJson } from "../../check/explain.ts";
import { featureNamed } from "../../check/features.ts";
import {
  CommandFailure,
  EXIT,
  type ExitCode,
  type Terminal,
  misuse,
  shown,
  withOpened,
} from "../terminal.ts";
import { painter, verdictText } from "../verdict-text.ts";

/** Validates without a server; opened when a command needs it and closed when it is done. */
export interface CliValidator {
  readonly datasets: Datasets;
  readonly validate: (text: string, features: readonly string[]) => Promise<Validation>;
  /** The API's JSON of a validation: keys in the contract's order, with denial fields. */
  readonly present: (validation: Validation, features: readonly string[]) => string;
  readonly close: () => Promise<void>;
}

export interface CheckCommandDeps {
  readonly terminal: Terminal;
  readonly openValidator: () => Promise<CliValidator>;
  readonly readInput: () => Promise<string>;
}

interface CheckCommandOptions {
  readonly features?: string;
  readonly explain?: true;
  readonly json?: true;
}

/** `gatepost check ENTRY...`: an entry with "@" is an address, any other a domain. */
export function checkCommand(deps: CheckCommandDeps): Command {
  return new Command("check")
    .description("check addresses and domains without a server")
    .argument("<entry...>", 'addresses or domains; "-" reads them from standard input')
    .option("--features <list>", `comma-separated: ${FEATURES.join(", ")}, or all`)
    .option(
      "--explain",
      "show the lists behind each signal, since when, and when they were fetched",
    )
    .option(
      "--json",
      'print the API\'s result; for several entries and for "-" an array whose items begin with "entry"',
    )
    .addHelpText(
      "after",
      "\nExit codes: 0 all fine; 1 an entry has a bad format, no mail server or is disposable;\n" +
        "3 no entry is bad, but DNS did not answer for one.",
    )
    .action(async (words: string[], options: CheckCommandOptions) => {
      askedFeatures(options.features);
      const asked = await entriesFrom(words, deps.readInput);
      await withOpened(deps.openValidator, (validator) =>
        check(asked, options, { ...deps, validator }),
      );
    });
}

async function check(
  { entries, isList }: CheckArguments,
  options: CheckCommandOptions,
  deps: CheckCommandDeps & { readonly validator: CliValidator },
): Promise<void> {
  const { terminal, validator } = deps;
  const features = askedFeatures(options.features);
  const validations = await Promise.all(
    entries.map((entry) => validator.validate(entry, features)),
  );
  if (options.json === true) {
    const bodies = validations.map((validation) =>
      options.explain === true
        ? JSON.stringify(explanationJson(validation, validator.datasets))
        : validator.present(validation, features),
    );
    terminal.out(`${isList ? arrayOf(bodies, entries) : (bodies[0] ?? "")}\n`);
  } else {
    const view = {
      paint: painter(terminal.colours),
      datasets: validator.datasets,
      dated: options.explain === true,
      features: FEATURES.filter((feature) => features.includes(feature)),
    };
    const texts = validations.map((each, index) => verdictText(entries[index] ?? "", each, view));
    terminal.out(texts.join("\n"));
  }
  const unsure = entries.filter((_, at) => validations.slice(at, at + 1).some(isUnsure));
  if (unsure.length > 0) terminal.err(`DNS did not answer for ${unsure.map(shown).join(", ")}.\n`);
  const exitCode = exitCodeOf(validations);
  if (exitCode !== EXIT.fine) throw new CommandFailure(exitCode);
}

/** They are checked all at once; longer lists are for `gatepost bulk`. */
const ENTRIES_MAX = 1_000;

export interface CheckArguments {
  readonly entries: readonly string[];
  /** Of several entries and of standard input, `--json` prints an array, however many there are. */
  readonly isList: boolean;
}

/** "-" alone stands for what standard input holds, separated as in a bulk list. */
export async function entriesFrom(
  words: readonly string[],
  readInput: () => Promise<string>,
): Promise<CheckArguments> {
  if (!words.includes("-")) return { entries: words, isList: words.length > 1 };
  if (words.length > 1) throw misuse('"-" reads all entries from standard input; give no others');
  const entries = (await readInput()).split(/[ ,\t\r\n]+/).filter((entry) => entry !== "");
  if (entries.length === 0) throw misuse("standard input has no entries");
  if (entries.length > ENTRIES_MAX) {
    throw misuse(`more than ${String(ENTRIES_MAX)} entries; use gatepost bulk`);
  }
  return { entries, isList: true };
}

function arrayOf(bodies: readonly string[], entries: readonly string[]): string {
  const items = bodies.map(
    (body, at) => `{"entry":${JSON.stringify(entries[at] ?? "")},${body.slice(1)}`,
  );
  return `[${items.join(",\n")}]`;
}

function askedFeatures(option: string | undefined): readonly string[] {
  const names = (option ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "");
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
function exitCodeOf(validations: readonly Validation[]): ExitCode {
  const wrong = (each: Validation): boolean =>
    !each.result.format || each.result.disposable || (!each.result.dns && !isUnsure(each));
  if (validations.some(wrong)) return EXIT.no;
  return validations.some(isUnsure) ? EXIT.failed : EXIT.fine;
}

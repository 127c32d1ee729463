import { Command, InvalidArgumentError } from "commander";
import type { Census } from "../../ports/evidence/census.ts";
import { misuse, refuse, type Terminal } from "../terminal.ts";
import { jsonLine } from "../text.ts";
import { withOpened } from "../with-opened.ts";
import type { JsonOption } from "./options.ts";

/** The census as the commands use it. */
export interface CliCensus {
  /** Resolves the names of a text, `rate` a second; continues where it stopped. */
  readonly take: (
    text: string,
    rate: number,
    progress: (census: Census) => void,
    onInterrupt: (stop: () => void) => () => void,
  ) => Promise<Census>;
  /** The signed file and the fingerprint of its key; undefined without a finished census. */
  readonly export: () => { readonly file: string; readonly fingerprint: string } | undefined;
  /** Takes a signed file when `trusted` is its fingerprint. */
  readonly import: (file: string, trusted: string | undefined) => CensusImport;
  readonly close: () => Promise<void>;
}

export type CensusImport =
  | { readonly kind: "taken"; readonly census: Census }
  | { readonly kind: "untrusted"; readonly fingerprint: string }
  | { readonly kind: "invalid" };

export interface CensusCommandDeps {
  readonly terminal: Terminal;
  readonly openCensus: () => Promise<CliCensus>;
  /** A file's text, "-" for standard input. Rejects with a sentence. */
  readonly readFile: (path: string) => Promise<string>;
  readonly onInterrupt: (stop: () => void) => () => void;
}

const RATE_DEFAULT = 20;
const RATE_MAX = 500;

function rateOf(text: string): number {
  const rate = Number(text);
  if (Number.isInteger(rate) && rate >= 1 && rate <= RATE_MAX) return rate;
  throw new InvalidArgumentError(`must be a whole number from 1 to ${String(RATE_MAX)}`);
}

/** `gatepost census ...`: counts honest domains by mail server. */
export function censusCommand(deps: CensusCommandDeps): Command {
  return new Command("census")
    .description("count honest domains by mail server, which makes learned mail servers surer")
    .argument("<file>", 'popular names, one a line or "rank,name"; - for standard input')
    .option("--rate <names>", "names a second", rateOf, RATE_DEFAULT)
    .option("--json", "print JSON alone")
    .addHelpText(
      "after",
      "\nA census that was interrupted continues where it stopped. Only counts are kept, never the names.",
    )
    .action((file: string, options: CensusOptions) => take(deps, file, options))
    .addCommand(exportCommand(deps))
    .addCommand(importCommand(deps));
}

interface CensusOptions extends JsonOption {
  readonly rate: number;
}

async function take(
  { terminal, openCensus, readFile, onInterrupt }: CensusCommandDeps,
  file: string,
  { rate, json }: CensusOptions,
): Promise<void> {
  const text = await readFile(file);
  const census = await withOpened(openCensus, (opened) =>
    opened.take(text, rate, progressOn(terminal), onInterrupt),
  );
  if (census.names === 0) throw misuse(`${file}: no domain names in it`);
  terminal.out(json === true ? jsonLine(censusJson(census)) : `${sentenceOf(census)}\n`);
}

/** A line on standard error each thousandth name or so. */
function progressOn(terminal: Terminal): (census: Census) => void {
  let next = 1_000;
  return ({ asked, names }) => {
    if (asked < next) return;
    next = asked + 1_000;
    terminal.err(`${String(asked)} of ${String(names)} names asked\n`);
  };
}

function sentenceOf(census: Census): string {
  const { asked, names, domains, servers } = census;
  const counts = `${String(domains)} domains on ${String(servers.size)} mail servers and addresses counted`;
  if (asked === names) return `${counts}.`;
  return `Stopped after ${String(asked)} of ${String(names)} names; run it again to go on. ${counts} so far.`;
}

const censusJson = ({ asked, names, domains, servers }: Census): object => ({
  asked,
  names,
  domains,
  servers: servers.size,
  finished: asked === names,
});

function exportCommand({ terminal, openCensus }: CensusCommandDeps): Command {
  return new Command("export")
    .description("print the counts as a signed file for another installation")
    .action(async () => {
      const exported = await withOpened(openCensus, (opened) => Promise.resolve(opened.export()));
      if (exported === undefined) {
        throw refuse("no finished census here; run `gatepost census FILE` first");
      }
      terminal.out(exported.file);
      terminal.err(
        `Signed with key ${exported.fingerprint}; the other side needs this fingerprint.\n`,
      );
    });
}

interface ImportOptions extends JsonOption {
  readonly trust?: string;
}

function importCommand({ terminal, openCensus, readFile }: CensusCommandDeps): Command {
  return new Command("import")
    .description("take the counts of another installation")
    .argument("<file>", "a file of `gatepost census export`; - for standard input")
    .option("--trust <fingerprint>", "the fingerprint of the key that signed it")
    .option("--json", "print JSON alone")
    .action(async (file: string, { trust, json }: ImportOptions) => {
      const text = await readFile(file);
      const answer = await withOpened(openCensus, (opened) =>
        Promise.resolve(opened.import(text, trust)),
      );
      if (answer.kind === "invalid") {
        throw refuse(`${file}: not a signed census, or changed since`);
      }
      if (answer.kind === "untrusted") {
        const { fingerprint } = answer;
        throw refuse(
          `${file}: signed with key ${fingerprint}. If that is the sender's, add --trust ${fingerprint}`,
        );
      }
      const { census } = answer;
      terminal.out(json === true ? jsonLine(censusJson(census)) : `${sentenceOf(census)}\n`);
    });
}

import { Argument, Command, Option } from "commander";
import {
  type CommandFailure,
  type DatabaseUse,
  jsonLine,
  misuse,
  refuse,
  shown,
  type Terminal,
  withOpened,
} from "./terminal.ts";

interface PartDetails {
  readonly help: string;
  readonly choices?: readonly string[];
  /** What it is unless given; an argument in brackets needs it. */
  readonly fallback?: unknown;
  /** Makes the value of the text. Throws a `CommandFailure`. */
  readonly read?: (text: string) => unknown;
  readonly isRequired?: true;
  /** Options that may not be given beside it. */
  readonly conflicts?: readonly string[];
  /** Options that it sets. */
  readonly implies?: Readonly<Record<string, unknown>>;
}

/** One argument or option: its help, or its help with what else is known of it. */
type Part = string | PartDetails;

/** By their syntax: "<entry...>", "[name]", "--yes" or "--out <file>". */
type Parts = Readonly<Record<string, Part>>;

type Camel<Text extends string> = Text extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Text;

type NameOf<Syntax extends string> = Syntax extends `--${infer Name} ${string}`
  ? Camel<Name>
  : Syntax extends `--${infer Name}` | `<${infer Name}...>` | `<${infer Name}>` | `[${infer Name}]`
    ? Camel<Name>
    : never;

type ValueOf<Syntax, Known> = Known extends { readonly read: (text: string) => infer Value }
  ? Value
  : Known extends { readonly choices: readonly (infer Word)[] }
    ? Word
    : Syntax extends `${string}...>`
      ? readonly string[]
      : Syntax extends `--${string} ${string}` | `<${string}` | `[${string}`
        ? string
        : true;

/** Those that every command line has. */
type Needed<Takes extends Parts> = {
  [Syntax in keyof Takes & string]: Syntax extends `<${string}` | `[${string}`
    ? Syntax
    : Takes[Syntax] extends { readonly fallback: unknown }
      ? Syntax
      : never;
}[keyof Takes & string];

/** The values of a command line by their names: `keyId` for "<key-id>", `passwordStdin` for "--password-stdin". */
export type Given<Takes extends Parts> = {
  readonly [Syntax in Needed<Takes> as NameOf<Syntax>]: ValueOf<Syntax, Takes[Syntax]>;
} & {
  readonly [Syntax in Exclude<keyof Takes & string, Needed<Takes>> as NameOf<Syntax>]?: ValueOf<
    Syntax,
    Takes[Syntax]
  >;
} & { readonly json?: true };

export interface CommandAnswer {
  /** What `--json` prints in place of the text. */
  readonly json?: unknown;
  readonly text: string;
  /** Goes to standard error after the answer. */
  readonly notes?: string | undefined;
  /** Why the exit code is not 0, although there is an answer. */
  readonly failure?: CommandFailure | undefined;
}

/** A row of the table of commands. */
interface Row<Takes extends Parts, Opened> {
  readonly about: string;
  readonly takes?: Takes;
  /** What `--json` prints; absent for a command without. */
  readonly json?: string;
  /** Stands in the help below the options. */
  readonly details?: string;
  /** Command lines that the help shows. */
  readonly examples: readonly string[];
  /** Where there is no database it makes one; others only read or change what is there. */
  readonly createsDatabase?: true;
  readonly run: (
    given: Given<Takes>,
    opened: Opened,
    terminal: Terminal,
  ) => Promise<CommandAnswer | void> | CommandAnswer | void;
}

export type Open<Opened> = (
  use?: DatabaseUse,
) => Promise<Opened & { readonly close: () => Promise<void> }>;

export type MakeCommand<Opened> = (terminal: Terminal, open: Open<Opened>) => Command;

/** For a command that works with what is there already, or with nothing. */
export const opening =
  <Opened extends object>(opened: Opened): Open<Opened> =>
  () =>
    Promise.resolve({ ...opened, close: () => Promise.resolve() });

/** Makes rows of commands that work with `Opened`: it is opened for a command, and closed when that has ended or failed. */
export const rowsFor =
  <Opened>() =>
  <const Takes extends Parts = Readonly<Record<never, Part>>>(
    name: string,
    row: Row<Takes, Opened>,
  ): MakeCommand<Opened> =>
  (terminal, open) => {
    const command = described(new Command(name), row);
    return command.action(async () => {
      const args = command.registeredArguments.map((argument, at) => [
        camel(argument.name()),
        command.processedArgs[at] as unknown,
      ]);
      // Commander has parsed it by `takes`.
      const given = { ...command.opts(), ...Object.fromEntries(args) } as Given<Takes>;
      const use = row.createsDatabase === true ? "may_create" : "must_exist";
      const answer = await withOpened(
        () => open(use),
        async (opened) => row.run(given, opened, terminal),
      );
      if (answer !== undefined) say(answer, given, terminal);
    });
  };

function say(
  { json, text, notes = "", failure }: CommandAnswer,
  given: { readonly json?: true },
  { out, err }: Terminal,
): void {
  out(given.json === true && json !== undefined ? jsonLine(json) : text);
  if (notes !== "") err(notes);
  if (failure !== undefined) throw failure;
}

function described(command: Command, row: Omit<Row<Parts, never>, "run">): Command {
  command.description(row.about);
  for (const [syntax, part] of Object.entries(row.takes ?? {})) {
    add(command, syntax, typeof part === "string" ? { help: part } : part);
  }
  if (row.json !== undefined) command.option("--json", row.json);
  const examples = row.examples.map((each) => `  ${each}\n`).join("");
  if (row.details !== undefined) command.addHelpText("after", `\n${row.details}`);
  return command.addHelpText("after", `\nExamples:\n${examples}`.trimEnd());
}

function add(command: Command, syntax: string, details: PartDetails): void {
  const { help, conflicts = [], implies = {}, isRequired = false } = details;
  if (!syntax.startsWith("--")) {
    command.addArgument(shaped(new Argument(syntax, help), details));
    return;
  }
  const option = shaped(new Option(syntax, help), details);
  option
    .conflicts([...conflicts])
    .implies(implies)
    .makeOptionMandatory(isRequired);
  command.addOption(option);
}

function shaped<To extends Argument | Option>(
  to: To,
  { choices, fallback, read }: PartDetails,
): To {
  if (fallback !== undefined) to.default(fallback);
  if (read !== undefined) to.argParser(read);
  if (choices !== undefined) to.choices(choices);
  return to;
}

const camel = (name: string): string =>
  name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** A command that only has others below it. */
export function group<Opened>(
  name: string,
  about: string,
  rows: readonly MakeCommand<Opened>[],
): MakeCommand<Opened> {
  return (terminal, open) =>
    rows.reduce(
      (command, make) => command.addCommand(make(terminal, open)),
      new Command(name).description(about),
    );
}

/** The argument of a command about one account. */
export const ACCOUNT = { "<account>": "its id or e-mail address" } as const;

/** The account with that id or e-mail address; without one the command's answer is no. */
export async function accountNamed<T>(
  { accounts }: { readonly accounts: { find(idOrEmail: string): Promise<T | undefined> } },
  name: string,
): Promise<T> {
  const account = await accounts.find(name);
  if (account === undefined) throw refuse(`no account ${shown(name)}`);
  return account;
}

/** Reads a whole number; `name` is that of the argument or option. */
export const wholeNumber =
  (name: string, min: number, max: number) =>
  (text: string): number => {
    if (/^\d{1,10}$/.test(text) && Number(text) >= min && Number(text) <= max) return Number(text);
    const bounds = `from ${String(min)} to ${String(max)}`;
    throw misuse(`${name}: "${shown(text)}" is not a number ${bounds}`);
  };

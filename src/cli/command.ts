import { Command, type CommandUnknownOpts, type OptionValues } from "@commander-js/extra-typings";
import type { AccountService } from "../accounts/accounts.ts";
import type { Account } from "../accounts/accounts-store.ts";
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

/** The arguments of a command line in their order, and its options by name: `passwordStdin` for "--password-stdin". */
type Given<Args, Options> = Readonly<Options> & { readonly args: Args; readonly json?: true };

export interface CommandAnswer {
  /** What `--json` prints in place of the text. */
  readonly json?: unknown;
  readonly text: string;
  /** Goes to standard error after the answer. */
  readonly notes?: string | undefined;
  /** Why the exit code is not 0, although there is an answer. */
  readonly failure?: CommandFailure | undefined;
}

interface Row<Args extends unknown[], Options extends OptionValues, Opened> {
  readonly about: string;
  /** Adds arguments and options, whose types `run` gets. */
  readonly takes?: (to: Command) => Command<Args, Options>;
  /** What `--json` does; without it there is no such option. */
  readonly json?: string | undefined;
  /** Stands in the help below the options. */
  readonly details?: string;
  readonly examples: readonly string[];
  /** Where there is no database it makes one; others only read or change what is there. */
  readonly createsDatabase?: true;
  readonly run: (
    given: Given<Args, Options>,
    opened: Opened,
    terminal: Terminal,
  ) => Promise<CommandAnswer | void> | CommandAnswer | void;
}

export type Open<Opened> = (
  use?: DatabaseUse,
) => Promise<Opened & { readonly close: () => Promise<void> }>;

export type MakeCommand<Opened> = (terminal: Terminal, open: Open<Opened>) => CommandUnknownOpts;

/** For a command that works with what is there already, or with nothing. */
export const opening =
  <Opened extends object>(opened: Opened): Open<Opened> =>
  () =>
    Promise.resolve({ ...opened, close: () => Promise.resolve() });

/** Makes rows of commands that work with `Opened`: it is opened for a command, and closed when that has ended or failed. */
export const rowsFor =
  <Opened>() =>
  <Args extends unknown[] = [], Options extends OptionValues = Record<never, never>>(
    name: string,
    row: Row<Args, Options, Opened>,
  ): MakeCommand<Opened> =>
  (terminal, open) => {
    const bare = new Command(name).description(row.about);
    const command = row.takes?.(bare) ?? (bare as unknown as Command<Args, Options>);
    if (row.json !== undefined) command.option("--json", row.json);
    if (row.details !== undefined) command.addHelpText("after", `\n${row.details}`);
    const examples = row.examples.map((each) => `\n  ${each}`).join("");
    command.addHelpText("after", `\nExamples:${examples}`);
    return command.action(async () => {
      const given: Given<Args, Options> = { ...command.opts(), args: command.processedArgs };
      const use = row.createsDatabase === true ? "may_create" : "must_exist";
      const answer = await withOpened(
        () => open(use),
        async (opened) => row.run(given, opened, terminal),
      );
      if (answer !== undefined) say(answer, given, terminal);
    }) as unknown as CommandUnknownOpts;
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

/** A command that only has others below it. */
export function group<Opened>(
  name: string,
  about: string,
  rows: readonly MakeCommand<Opened>[],
): MakeCommand<Opened> {
  return (terminal, open) =>
    rows.reduce(
      (command, make) => command.addCommand(make(terminal, open)),
      new Command(name).description(about) as CommandUnknownOpts,
    );
}

/** The account with that id or e-mail address; without one the command's answer is no. */
export async function accountNamed({ accounts }: WithAccounts, name: string): Promise<Account> {
  const account = await accounts.find(name);
  if (account === undefined) throw refuse(`no account ${shown(name)}`);
  return account;
}

export interface WithAccounts {
  readonly accounts: Pick<AccountService, "find">;
}

type AccountArgs = [string, ...unknown[]];

export interface AccountCommand<
  Args extends AccountArgs,
  Options extends OptionValues,
  Opened,
  Answer,
> extends Omit<Row<Args, Options, Opened>, "takes" | "run"> {
  /** Adds what stands behind the account. */
  readonly takes?: (to: Command<[string]>) => Command<Args, Options>;
  readonly run: (
    account: Account,
    opened: Opened,
    given: Given<Args, Options>,
    terminal: Terminal,
  ) => Promise<Answer>;
}

/** Makes rows whose first argument is an account, which is found before they run. */
export const accountRowsFor =
  <Opened extends WithAccounts>() =>
  <Args extends AccountArgs = [string], Options extends OptionValues = Record<never, never>>(
    name: string,
    { takes, run, ...row }: AccountCommand<Args, Options, Opened, CommandAnswer | void>,
  ): MakeCommand<Opened> =>
    rowsFor<Opened>()<Args, Options>(name, {
      json: "print JSON alone",
      ...row,
      takes(to) {
        const named = to.argument("<account>", "its id or e-mail address");
        return takes?.(named) ?? (named as unknown as Command<Args, Options>);
      },
      run: async (given, opened, terminal) =>
        run(await accountNamed(opened, given.args[0]), opened, given, terminal),
    });

/** Reads a whole number; `name` is that of the argument or option. */
export const wholeNumber =
  (name: string, min: number, max: number) =>
  (text: string): number => {
    if (/^\d{1,10}$/.test(text) && Number(text) >= min && Number(text) <= max) return Number(text);
    const bounds = `from ${String(min)} to ${String(max)}`;
    throw misuse(`${name}: "${shown(text)}" is not a number ${bounds}`);
  };

export const commaNames = (list: string): readonly string[] =>
  list.split(",").flatMap((name) => name.trim() || []);

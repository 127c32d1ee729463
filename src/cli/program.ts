import { Command, CommanderError, type CommandUnknownOpts } from "@commander-js/extra-typings";
import { Refusal } from "../base/refusals.ts";
import { DatabaseFault } from "../store/database-fault.ts";
import {
  CommandFailure,
  EXIT,
  type ExitCode,
  type Terminal,
  harmless,
  misuse,
  wordsOf,
} from "./terminal.ts";

/** How `--help` groups the commands. A test holds that it has every one. */
const TASKS: Readonly<Record<string, readonly string[]>> = {
  "Run the service:": ["serve", "worker", "doctor", "backup", "migrate"],
  "Check addresses and domains, without a server:": ["check", "decide", "bulk", "mcp"],
  "Accounts:": ["account", "key", "webhook", "forget"],
  "What sign-up forms and identity systems get:": ["policy", "hook", "mailbox", "watch", "lists"],
};

const THIS_COMMAND = "This command:";

const taskOf = (name: string): string | undefined =>
  Object.keys(TASKS).find((task) => TASKS[task]?.includes(name));

const EXIT_CODES = `
Exit codes: 0 success; 1 the answer is no; 2 the command line is invalid; 3 the command failed.
Settings are environment variables: docs/configuration.md.`;

/** The code of a refusal for what was typed; every other refusal is about what exists. */
const BAD_FIELD = "bad_field";

const STARTS = new Set(["serve", "worker", "migrate"]);

/** The `gatepost` command line. `main` creates `commands` with their dependencies. */
export function program(
  version: string,
  terminal: Terminal,
  commands: readonly CommandUnknownOpts[],
): CommandUnknownOpts {
  const root = new Command("gatepost")
    .description("Email and domain validation: format, mail DNS, disposable, and why.")
    .version(version)
    .commandsGroup(THIS_COMMAND)
    .helpCommand(true) // in that group
    .enablePositionalOptions() // "--version" behind a command is the command's
    .showHelpAfterError("(gatepost --help lists all commands)")
    .addHelpText("after", EXIT_CODES);
  for (const command of commands) {
    root.addCommand(command.helpGroup(taskOf(command.name()) ?? THIS_COMMAND));
  }
  harden(root, terminal);
  return root;
}

function harden(command: CommandUnknownOpts, terminal: Terminal): void {
  const writeErr = (text: string): void => terminal.err(harmless(text));
  command.exitOverride().configureOutput({ writeOut: terminal.out, writeErr });
  for (const child of command.commands) harden(child, terminal);
}

/**
 * Runs one command line (without node and script) and returns its exit code: the command's own, 2 for
 * bad usage, 3 for a fault.
 */
export async function runProgram(
  root: CommandUnknownOpts,
  words: readonly string[],
  terminal: Terminal,
): Promise<ExitCode> {
  try {
    if (words.some((word) => word.includes("\0")))
      throw misuse("an argument holds the character NUL");
    await root.parseAsync([...words], { from: "user" });
    return EXIT.fine;
  } catch (fault) {
    if (fault instanceof CommanderError) return fault.exitCode === 0 ? EXIT.fine : EXIT.usage;
    const message = fault instanceof CommandFailure ? fault.message : wordsOf(fault);
    if (message !== "") terminal.err(harmless(`gatepost: ${message}\n`));
    if (fault instanceof CommandFailure) return fault.exitCode;
    if (fault instanceof Refusal) return fault.code === BAD_FIELD ? EXIT.usage : EXIT.no;
    const isStart = STARTS.has(words[0] ?? "") || fault instanceof DatabaseFault;
    if (isStart) terminal.err("See docs/operations/troubleshooting.md#a-start-that-fails\n");
    return EXIT.failed;
  }
}

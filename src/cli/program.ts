import { Command, CommanderError } from "commander";
import { EXAMPLES } from "./examples.ts";
import { wordsOf } from "./fault-words.ts";
import { CommandFailure, EXIT, type ExitCode, misuse, type Terminal } from "./terminal.ts";
import { harmless } from "./text.ts";

const EXIT_CODES = `
Exit codes: 0 success; 1 the answer is no; 2 the command line is invalid; 3 the command failed.
Settings are environment variables: docs/configuration.md.`;

/** The `gatepost` command line. `main` creates `commands` with their dependencies. */
export function program(
  version: string,
  terminal: Terminal,
  commands: readonly Command[],
): Command {
  const root = new Command("gatepost")
    .description("Email and domain validation: format, mail DNS, disposable, and why.")
    .version(version)
    .showHelpAfterError("(gatepost --help lists all commands)")
    .addHelpText("after", EXIT_CODES);
  for (const command of commands) root.addCommand(command);
  for (const command of root.commands) showExamples(command, command.name());
  harden(root, terminal);
  return root;
}

function showExamples(command: Command, path: string): void {
  const examples = EXAMPLES[path];
  if (examples !== undefined) {
    command.addHelpText("after", `\nExamples:\n${examples.map((each) => `  ${each}`).join("\n")}`);
  }
  for (const child of command.commands) showExamples(child, `${path} ${child.name()}`);
}

/** Commander writes to the terminal, and throws instead of ending the process. */
function harden(command: Command, terminal: Terminal): void {
  const writeErr = (text: string): void => terminal.err(harmless(text));
  command.exitOverride().configureOutput({ writeOut: terminal.out, writeErr });
  for (const child of command.commands) harden(child, terminal);
}

/**
 * Runs one command line (without node and script) and returns its exit code: the command's own, 2 for
 * bad usage, 3 for a fault.
 */
export async function runProgram(
  root: Command,
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
    return fault instanceof CommandFailure ? fault.exitCode : EXIT.failed;
  }
}

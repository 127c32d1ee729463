import { Command, CommanderError } from "commander";
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

/** What `--help` shows below a command's options, by its words. A test holds that every command has some. */
export const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  serve: ["gatepost serve", "HOST=0.0.0.0 PORT=80 gatepost serve"],
  worker: ["DATABASE_URL=postgres://db/gatepost gatepost worker"],
  check: [
    "gatepost check jo@example.com example.org",
    "gatepost check example.org --features all --explain",
    "cut -f2 people.tsv | gatepost check - --json",
  ],
  mcp: [
    "gatepost mcp",
    "GATEPOST_API_KEY=gp_live_... gatepost mcp --server https://gatepost.example.com",
  ],
  bulk: [
    "gatepost bulk people.csv --column email --out checked.csv",
    "gatepost bulk list.txt > valid.txt",
  ],
  "account create": [
    "gatepost account create jo@example.com --tier pro",
    "echo 'a long password' | gatepost account create jo@example.com --admin --password-stdin",
  ],
  "account list": ["gatepost account list --json"],
  "account tier": ["gatepost account tier jo@example.com starter"],
  "account credit": ["gatepost account credit jo@example.com 1000 --reason 'invoice 17'"],
  "account disable": ["gatepost account disable jo@example.com"],
  "account enable": ["gatepost account enable jo@example.com"],
  "account promote": ["gatepost account promote jo@example.com"],
  "account delete": ["gatepost account delete jo@example.com --yes"],
  "account limits": [
    "gatepost account limits jo@example.com --rate 1000 --daily none",
    "gatepost account limits jo@example.com --plan",
  ],
  "account unlock": ["gatepost account unlock jo@example.com"],
  "account second-factor": ["gatepost account second-factor jo@example.com off"],
  "account email": ["gatepost account email jo@example.com jo@example.org"],
  "account demote": ["gatepost account demote jo@example.com"],
  "account password": ["gatepost account password jo@example.com --password-stdin < password.txt"],
  "account traffic": ["gatepost account traffic jo@example.com off"],
  "account log": ["gatepost account log jo@example.com on"],
  "key create": ["gatepost key create jo@example.com --name backend"],
  "key list": ["gatepost key list jo@example.com"],
  "key revoke": ["gatepost key revoke KEY_ID --yes"],
  "webhook set": ["gatepost webhook set jo@example.com https://hooks.example.com/gatepost"],
  "webhook events": ["gatepost webhook events jo@example.com bulk.completed"],
  "webhook secret": ["gatepost webhook secret jo@example.com"],
  "webhook ping": ["gatepost webhook ping jo@example.com"],
  "webhook log": ["gatepost webhook log jo@example.com --json"],
  "webhook remove": ["gatepost webhook remove jo@example.com"],
  "webhook listen": ["gatepost webhook listen --help"],
  "lists status": ["gatepost lists status"],
  "lists off": ["gatepost lists off castle --note 'too many of our customers'"],
  "lists on": ["gatepost lists on castle"],
  "lists refresh": ["gatepost lists refresh"],
  "lists allow": ["gatepost lists allow example.com --note 'a customer'"],
  "lists deny": ["gatepost lists deny '*.example.com' --expires 2027-01-31"],
  "lists forget": ["gatepost lists forget example.com"],
  "lists feedback": ["gatepost lists feedback", "gatepost lists feedback --deny new.example"],
  "lists export": ["gatepost lists export > rules.txt"],
  "lists import": ["gatepost lists import deny.txt --kind deny"],
  forget: ["gatepost forget jo@example.com", "gatepost forget jo@example.com --yes --json"],
  decide: [
    "gatepost decide jo@example.com --for send",
    "gatepost decide jo@example.com sales@mailinator.com",
    "gatepost decide jo@example.com --policy policy.json --language de --json",
  ],
  "policy list": ["gatepost policy list jo@example.com"],
  "policy show": ["gatepost policy show jo@example.com > policy.json"],
  "policy set": ["gatepost policy set jo@example.com policy.json --name newsletter"],
  "policy shadow": [
    "gatepost policy shadow jo@example.com stricter.json",
    "gatepost policy shadow jo@example.com off",
  ],
  "policy promote": ["gatepost policy promote jo@example.com"],
  "policy test": ["gatepost policy test jo@example.com ada@example.org x@mailinator.com"],
  "policy back-test": ["gatepost policy back-test jo@example.com stricter.json --days 7"],
  "policy remove": ["gatepost policy remove jo@example.com newsletter"],
  "hook create": [
    "gatepost hook create jo@example.com supabase",
    "gatepost hook create jo@example.com kratos --policy newsletter --challenge reject",
  ],
  "hook list": ["gatepost hook list jo@example.com"],
  "hook secret": [
    "gatepost hook secret HOOK_ID",
    "gatepost hook secret HOOK_ID --stdin < secret.txt",
  ],
  "hook test": ["gatepost hook test HOOK_ID --email jo@mailinator.com"],
  "hook remove": ["gatepost hook remove HOOK_ID"],
  "account token-secret": ["gatepost account token-secret jo@example.com"],
  "account outcomes": ["gatepost account outcomes jo@example.com --days 7"],
  migrate: ["gatepost migrate"],
  backup: ["gatepost backup /var/backups/gatepost.db"],
  doctor: ["gatepost doctor", "gatepost doctor --json"],
  completion: [
    "source <(gatepost completion bash)",
    "gatepost completion fish > ~/.config/fish/completions/gatepost.fish",
  ],
};

/** How `--help` groups the commands. A test holds that it has every one. */
const TASKS: Readonly<Record<string, readonly string[]>> = {
  "Run the service:": ["serve", "worker", "doctor", "backup", "migrate"],
  "Check addresses and domains, without a server:": ["check", "decide", "bulk", "mcp"],
  "Accounts:": ["account", "key", "webhook", "forget"],
  "What sign-up forms and identity systems get:": ["policy", "hook", "lists"],
};

const THIS_COMMAND = "This command:";

const taskOf = (name: string): string | undefined =>
  Object.keys(TASKS).find((task) => TASKS[task]?.includes(name));

const EXIT_CODES = `
Exit codes: 0 success; 1 the answer is no; 2 the command line is invalid; 3 the command failed.
Settings are environment variables: docs/configuration.md.`;

const STARTS = new Set(["serve", "worker", "migrate"]);

/** The `gatepost` command line. `main` creates `commands` with their dependencies. */
export function program(
  version: string,
  terminal: Terminal,
  commands: readonly Command[],
): Command {
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
    if (fault instanceof CommandFailure) return fault.exitCode;
    if (fault instanceof Refusal) return EXIT.no;
    const isStart = STARTS.has(words[0] ?? "") || fault instanceof DatabaseFault;
    if (isStart) terminal.err("See docs/operations/troubleshooting.md#a-start-that-fails\n");
    return EXIT.failed;
  }
}

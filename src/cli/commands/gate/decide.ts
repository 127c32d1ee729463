import { Command, Option } from "commander";
import {
  DEFAULT_POLICY,
  DEFAULT_VERSION,
  policyFor,
  type PolicyQuestion,
  QUESTIONS,
  SEND_POLICY,
} from "../../../core/policy/default-policy.ts";
import { mistakeInWords, parsePolicy } from "../../../core/policy/parse-policy.ts";
import type { Policy } from "../../../core/policy/policy.ts";
import { isInconclusive } from "../../../core/validate/result.ts";
import type { PolicyTest, TestPolicy } from "../../../gate/rule-entry.ts";
import {
  CommandFailure,
  EXIT,
  type Terminal,
  misuse,
  refuse,
  shown,
  withOpened,
} from "../../terminal.ts";
import { entriesFrom } from "../check.ts";
import type { JsonOption } from "../options.ts";

/** Decides without a server; opened when a command needs it. */
export interface CliDecider {
  readonly testPolicy: TestPolicy;
  readonly close: () => Promise<void>;
}

export interface DecideCommandDeps {
  readonly terminal: Terminal;
  readonly readFile: (path: string) => Promise<string>;
  readonly openDecider: () => Promise<CliDecider>;
}

interface DecideOptions extends JsonOption {
  readonly policy?: string;
  readonly language: string;
  readonly for: PolicyQuestion;
}

/** `gatepost decide ENTRY...`: applies a policy to addresses. */
export function decideCommand(deps: DecideCommandDeps): Command {
  return new Command("decide")
    .description("accept, challenge, review or reject addresses here, without a server")
    .argument("<entry...>", 'addresses; "-" reads them from standard input')
    .addOption(
      new Option("--for <question>", "may this person sign up, or may a message be sent there")
        .choices(QUESTIONS)
        .default("signup"),
    )
    .option("--policy <file>", "policy as JSON (the built-in one unless given)")
    .option("--language <tag>", "of the message", "en")
    .option("--json", 'print the decision; for several entries and for "-" an array')
    .addHelpText("after", "\nExit codes: 0 none is rejected; 1 some entry is rejected.")
    .action(
      async (words: string[], { policy: file, language, json, for: question }: DecideOptions) => {
        if (file === "-" && words.includes("-")) {
          throw misuse('"-" stands for the policy or for the entries, not for both');
        }
        const { entries, isList } = await entriesFrom(words, () => deps.readFile("-"));
        const builtIn = question === "send" ? SEND_POLICY : DEFAULT_POLICY;
        const policy = file === undefined ? builtIn : (await policyOf(file, deps)).policy;
        const tests = await withOpened(deps.openDecider, ({ testPolicy }) =>
          testPolicy(policy, entries, { premium: true, language }),
        );
        const version = file === undefined ? DEFAULT_VERSION : 0;
        const name = file === undefined ? policyFor(question) : nameOf(file);
        const text =
          json === true ? jsonOf(tests, isList, { name, version }) : textOf(tests, policy);
        deps.terminal.out(text);
        const unsure = tests.filter(({ result }) => isInconclusive(result));
        if (unsure.length > 0) {
          const names = unsure.map(({ entry }) => shown(entry)).join(", ");
          deps.terminal.err(`DNS did not answer for ${names}; format, lists and rules decided.\n`);
        }
        deps.terminal.err(untestedText(tests));
        if (tests.some(({ decision }) => decision === "reject")) throw new CommandFailure(EXIT.no);
      },
    );
}

/** Reads a policy file. Refuses with every mistake, its path and its rule. */
export async function policyOf(
  file: string,
  { readFile }: Pick<DecideCommandDeps, "readFile">,
): Promise<{ readonly document: unknown; readonly policy: Policy }> {
  const text = await readFile(file);
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    throw refuse(`${shown(file)}: the policy is not valid JSON`);
  }
  const read = parsePolicy(document, { hasDomainAge: true });
  if (read.ok) return { document, policy: read.policy };
  const mistakes = read.mistakes.map((mistake) => mistakeInWords(mistake, document));
  throw refuse(mistakes.map((mistake) => `${shown(file)}: ${mistake}`).join("\n"));
}

/** "strict" of "policies/strict.json": how the answer names a policy that no account has. */
const nameOf = (file: string): string =>
  shown((file.split(/[\\/]/).at(-1) ?? file).replace(/\.json$/, ""));

function jsonOf(
  tests: readonly PolicyTest[],
  isList: boolean,
  policy: { readonly name: string; readonly version: number },
): string {
  const bodies = tests.map((test) => ({
    decision: test.decision,
    reason: test.reason,
    message: test.message,
    did_you_mean: test.did_you_mean,
    complete: test.complete,
    policy,
    result: test.result,
  }));
  return `${JSON.stringify(isList ? bodies : bodies[0])}\n`;
}

/** Which facts of rules could not be tested; "" for none. */
export function untestedText(tests: readonly PolicyTest[]): string {
  const facts = [...new Set(tests.flatMap(({ untested = [] }) => untested))];
  if (facts.length === 0) return "";
  return `Not tested: rules about ${facts.join(", ")}. Only decisions of a server count them.\n`;
}

/** Each decision with the rule that made it, as people count and read it. */
export function textOf(tests: readonly PolicyTest[], { rules }: Policy): string {
  const lines = tests.map(({ entry, decision, reason, rule, message }) => {
    const by = rule === null ? "else" : shown(rules[rule]?.name ?? "");
    const line = `${decision.padEnd(9)} ${shown(entry)}  ${reason} (${by})\n`;
    return message === undefined ? line : `${line}          ${shown(message)}\n`;
  });
  return lines.join("");
}

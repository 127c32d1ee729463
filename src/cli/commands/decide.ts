import { Option } from "@commander-js/extra-typings";
import {
  builtInFor,
  DEFAULT_VERSION,
  policyFor,
  QUESTIONS,
} from "../../core/policy/default-policy.ts";
import { mistakeInWords, parsePolicy } from "../../core/policy/parse-policy.ts";
import { NET, type Policy } from "../../core/policy/policy.ts";
import { isInconclusive } from "../../core/validate/result.ts";
import { sourceKeys } from "../../gate/traffic-marks.ts";
import type { PolicyTest, TestPolicy } from "../../gate/rulings.ts";
import { rowsFor } from "../command.ts";
import { CommandFailure, EXIT, type Terminal, misuse, refuse, shown } from "../terminal.ts";
import { entriesFrom } from "./check.ts";

export interface CliDecider {
  readonly testPolicy: TestPolicy;
}

/** `gatepost decide ENTRY...`: applies a policy to addresses. */
export const decideCommand = rowsFor<CliDecider>()("decide", {
  about: "accept, challenge, review or reject addresses here, without a server",
  takes: (to) =>
    to
      .argument("<entry...>", 'addresses; "-" reads them from standard input')
      .addOption(
        new Option(
          "--for <question>",
          "may this person sign up, may a message be sent there, may a member invite them",
        )
          .choices(QUESTIONS)
          .default("signup" as const),
      )
      .option("--policy <file>", "policy as JSON (the built-in one unless given)")
      .option("--confirmed", "leave out rules that challenge: the person answered")
      .option("--known", "of a message: the person has signed in here before")
      .option(
        "--count-by <name=value...>",
        "who asks, such as ip=203.0.113.7; only a server counts",
      )
      .option("--language <tag>", "of the message", "en"),
  json: 'print the decision; for several entries and for "-" an array',
  details: "Exit codes: 0 none is rejected; 1 some entry is rejected.",
  examples: [
    "gatepost decide jo@example.com --for send --confirmed",
    "gatepost decide jo@example.com sales@mailinator.com",
    "gatepost decide jo@example.com --policy policy.json --language de --json",
  ],
  async run(
    { args: [words], policy: file, language, for: question, ...flags },
    { testPolicy },
    terminal,
  ) {
    readKeys(flags.countBy ?? []);
    const confirmed = flags.confirmed === true;
    if (file === "-" && words.includes("-")) {
      throw misuse('"-" stands for the policy or for the entries, not for both');
    }
    const { entries, isList } = await entriesFrom(words, terminal);
    const builtIn = builtInFor(question);
    const policy = file === undefined ? builtIn : (await policyOf(file, terminal)).policy;
    const tests = await testPolicy(policy, entries, { premium: true, language, confirmed });
    const version = file === undefined ? DEFAULT_VERSION : 0;
    const name = file === undefined ? policyFor(question) : nameOf(file);
    const bodies = tests.map((test) => bodyOf(test, { name, version }));
    const unsure = tests.filter(({ result }) => isInconclusive(result));
    const silent = unsure.map(({ entry }) => shown(entry)).join(", ");
    const unanswered = `DNS did not answer for ${silent}; format, lists and rules decided.\n`;
    return {
      json: isList ? bodies : bodies[0],
      text: testsText(tests, policy),
      notes: (unsure.length > 0 ? unanswered : "") + untestedText(tests),
      failure: failureOf(tests),
    };
  },
});

/** Refuses what a server would refuse of `count_by`. */
function readKeys(pairs: readonly string[]): void {
  for (const pair of pairs) {
    const [, name, value] = /^([a-z]{1,16})=(.{1,128})$/s.exec(pair) ?? [];
    const isFine = name !== undefined && name !== NET && value !== undefined;
    if (!isFine) throw misuse(`--count-by: ${shown(pair)} is not NAME=VALUE with a name of a to z`);
    if (sourceKeys(name, value) === undefined)
      throw misuse(`--count-by: ${shown(value)} is not an IPv4 or IPv6 address`);
  }
  if (pairs.length > 3) throw misuse("--count-by: at most three names are counted");
}

/** Reads a policy file. Refuses with every mistake, its path and its rule. */
export async function policyOf(
  file: string,
  { readText }: Terminal,
): Promise<{ readonly document: unknown; readonly policy: Policy }> {
  const text = await readText(file);
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

const bodyOf = (test: PolicyTest, policy: { readonly name: string; readonly version: number }) => ({
  decision: test.decision,
  reason: test.reason,
  message: test.message,
  did_you_mean: test.did_you_mean,
  complete: test.complete,
  policy,
  result: test.result,
});

export const failureOf = (tests: readonly PolicyTest[]): CommandFailure | undefined =>
  tests.some(({ decision }) => decision === "reject") ? new CommandFailure(EXIT.no) : undefined;

export function untestedText(tests: readonly PolicyTest[]): string {
  const facts = [...new Set(tests.flatMap(({ untested = [] }) => untested))];
  if (facts.length === 0) return "";
  return `Not tested: rules about ${facts.join(", ")}. Only decisions of a server count them.\n`;
}

/** Each decision with the rule that made it, as people count and read it. */
export function testsText(tests: readonly PolicyTest[], { rules }: Policy): string {
  const lines = tests.map(({ entry, decision, reason, rule, message }) => {
    const by = rule === null ? "else" : shown(rules[rule]?.name ?? "");
    const line = `${decision.padEnd(9)} ${shown(entry)}  ${reason} (${by})\n`;
    return message === undefined ? line : `${line}          ${shown(message)}\n`;
  });
  return lines.join("");
}

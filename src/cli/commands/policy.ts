import type { Account } from "../../accounts/accounts-store.ts";
import { DEFAULT_NAME } from "../../core/policy/default-policy.ts";
import { parsePolicy, working } from "../../core/policy/parse-policy.ts";
import type { Policy } from "../../core/policy/policy.ts";
import { prunedWords } from "../../core/policy/sentence.ts";
import type { PolicyJson } from "../../gate/gate-shapes.ts";
import type { PolicyService, SavedPolicy } from "../../gate/policies.ts";
import {
  accountRowsFor,
  type CommandAnswer,
  group,
  type WithAccounts,
  wholeNumber,
} from "../command.ts";
import { refuse, shown, table } from "../terminal.ts";
import { type CliDecider, failureOf, policyOf, testsText, untestedText } from "./decide.ts";

export interface CliPolicies extends CliDecider, WithAccounts {
  readonly policies: PolicyService;
  /** The name of the system user who runs the command. */
  readonly author: string;
}

const onAccount = accountRowsFor<CliPolicies>();

const NAME = ["--name <name>", "the policy's name", DEFAULT_NAME] as const;
const NAMED = ["[name]", "the policy's name", DEFAULT_NAME] as const;

const cells = ({ name, live, shadow, author, created_at: at }: PolicyJson): readonly string[] => [
  name,
  String(live),
  shadow === null ? "-" : String(shadow),
  author === null ? "built in" : shown(author),
  at ?? "-",
];

const savedAnswer = (saved: SavedPolicy, words: string): CommandAnswer => ({
  json: saved,
  text: `${saved.name} ${String(saved.version)} ${words}\n`,
  notes: saved.pruned === undefined ? "" : `${prunedWords(saved)}.\n`,
});

const save = (
  { policies, author }: CliPolicies,
  account: Account,
  name: string,
  document: unknown,
  as: "live" | "shadow",
): Promise<SavedPolicy> => policies.save({ account, author }, name, document, as);

const COMMANDS = [
  onAccount("list", {
    about: "the policies and the versions that run",
    examples: ["gatepost policy list jo@example.com"],
    async run({ id }, opened) {
      const policies = await opened.policies.list(id);
      const headings = ["NAME", "LIVE", "SHADOW", "AUTHOR", "SAVED"];
      return { json: policies, text: table(headings, policies.map(cells)) };
    },
  }),
  onAccount("show", {
    about: "print a policy's document; with --json its versions too",
    takes: (to) =>
      to
        .argument(...NAMED)
        .option(
          "--version <number>",
          "another version than the live one",
          wholeNumber("--version", 1, 999_999_999),
        ),
    examples: ["gatepost policy show jo@example.com > policy.json"],
    async run({ id }, { policies }, { args: [, name], version }) {
      const page = await policies.show(id, name, version);
      const ignored = (page.mistakes ?? []).map((mistake) => `Ignored: ${shown(mistake)}\n`);
      const text = `${JSON.stringify(page.document, null, 2)}\n`;
      return { json: page, text, notes: ignored.join("") };
    },
  }),
  onAccount("set", {
    about: "save a policy from a JSON file as a new version, which is live at once",
    takes: (to) => to.argument("<file>", 'JSON, or "-" for standard input').option(...NAME),
    examples: ["gatepost policy set jo@example.com policy.json --name newsletter"],
    async run(account, opened, { args: [, file], name }, terminal) {
      const { document } = await policyOf(file, terminal);
      return savedAnswer(await save(opened, account, name, document, "live"), "is live");
    },
  }),
  onAccount("shadow", {
    about: "run a policy beside the live one: it is counted and decides nothing",
    takes: (to) => to.argument("<file>", 'JSON, "-" for standard input, or "off"').option(...NAME),
    examples: [
      "gatepost policy shadow jo@example.com stricter.json",
      "gatepost policy shadow jo@example.com off",
    ],
    async run(account, opened, { args: [, file], name }, terminal) {
      if (file === "off") {
        await opened.policies.endShadow(account.id, name);
        return { json: { name, shadow: null }, text: `${name} has no shadow\n` };
      }
      const { document } = await policyOf(file, terminal);
      const saved = await save(opened, account, name, document, "shadow");
      return savedAnswer(saved, "runs as shadow");
    },
  }),
  onAccount("promote", {
    about: "make the shadow live",
    takes: (to) => to.argument(...NAMED),
    examples: ["gatepost policy promote jo@example.com"],
    run: async ({ id }, { policies }, { args: [, name] }) =>
      savedAnswer(await policies.promote(id, name), "is live"),
  }),
  onAccount("remove", {
    about: "remove a policy; default is the built-in one then",
    takes: (to) => to.argument("<name>", "the policy's name"),
    examples: ["gatepost policy remove jo@example.com newsletter"],
    async run({ id }, { policies }, { args: [, name] }) {
      await policies.remove(id, name);
      return { json: { name, removed: true }, text: `removed ${name}\n` };
    },
  }),
  onAccount("test", {
    about: "apply the live policy to addresses and show the rule that decided",
    takes: (to) => to.argument("<entry...>", "addresses").option(...NAME),
    examples: ["gatepost policy test jo@example.com ada@example.org x@mailinator.com"],
    async run({ id }, opened, { args: [, entries], name }) {
      const policy = await livePolicy(opened, id, name);
      const tests = await opened.testPolicy(policy, entries, { premium: true });
      return {
        json: tests,
        text: testsText(tests, policy),
        notes: untestedText(tests),
        failure: failureOf(tests),
      };
    },
  }),
];

async function livePolicy(opened: CliPolicies, id: string, name: string): Promise<Policy> {
  const { document, mistakes = [] } = await opened.policies.show(id, name);
  const policy = working(parsePolicy(document, { hasDomainAge: true }));
  if (policy === undefined) throw refuse(mistakes.join("\n"));
  return policy;
}

/** `gatepost policy ...`; a running server follows within 5 s. */
export const policyCommand = group("policy", "what an account's sign-up forms do", COMMANDS);

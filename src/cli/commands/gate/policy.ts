import { Command } from "commander";
import type { Account } from "../../../accounts/accounts-store.ts";
import { DEFAULT_NAME } from "../../../core/policy/default-policy.ts";
import { parsePolicy, working } from "../../../core/policy/parse-policy.ts";
import type { Policy } from "../../../core/policy/policy.ts";
import type { BackTestPolicy } from "../../../gate/back-test.ts";
import { prunedWords } from "../../../core/policy/pruned-words.ts";
import type { BackTestReport, PolicyJson, SavedPolicy } from "../../../gate/gate-shapes.ts";
import type { PolicyService } from "../../../gate/policies.ts";
import type { AccountService } from "../../../accounts/accounts.ts";
import {
  CommandFailure,
  EXIT,
  misuse,
  print,
  refuse,
  shown,
  table,
  withOpened,
} from "../../terminal.ts";
import { type DecideCommandDeps, policyOf, textOf, untestedText } from "./decide.ts";
import { accountNamed } from "../account/account-deps.ts";
import { type JsonOption, aboutAccount } from "../options.ts";

interface PolicyDeps extends DecideCommandDeps {
  readonly openPolicies: () => Promise<CliPolicies>;
  readonly openBackTest: () => Promise<{
    readonly backTestPolicy: BackTestPolicy;
    readonly close: () => Promise<void>;
  }>;
}

interface CliPolicies {
  readonly accounts: Pick<AccountService, "find">;
  readonly policies: PolicyService;
  readonly author: string;
  readonly close: () => Promise<void>;
}

interface PolicyCommandParts extends CliPolicies {
  readonly of: Account;
}

const JSON_OPTION = ["--json", "print JSON alone"] as const;
const NAME_OPTION = ["--name <name>", "the policy's name", DEFAULT_NAME] as const;

interface Named extends JsonOption {
  readonly name: string;
}

/** `gatepost policy ...`; a running server follows within 5 s. */
export function policyCommand(deps: PolicyDeps): Command {
  return new Command("policy")
    .description("what an account's sign-up forms do")
    .addCommand(listCommand(deps))
    .addCommand(showCommand(deps))
    .addCommand(setCommand(deps))
    .addCommand(shadowCommand(deps))
    .addCommand(promoteCommand(deps))
    .addCommand(testCommand(deps))
    .addCommand(backTestCommand(deps))
    .addCommand(removeCommand(deps));
}

const withPolicies = <T>(
  account: string,
  { openPolicies }: PolicyDeps,
  work: (parts: PolicyCommandParts) => Promise<T>,
): Promise<T> =>
  withOpened(openPolicies, async (opened) =>
    work({ ...opened, of: await accountNamed(opened, account) }),
  );

const row = ({ name, live, shadow, author, created_at: at }: PolicyJson): readonly string[] => [
  name,
  String(live),
  shadow === null ? "-" : String(shadow),
  author === null ? "built in" : shown(author),
  at ?? "-",
];

const listCommand = (deps: PolicyDeps): Command =>
  aboutAccount("list", "the policies and the versions that run")
    .option(...JSON_OPTION)
    .action(async (account: string, { json }: JsonOption) => {
      const rows = await withPolicies(account, deps, ({ policies, of }) => policies.list(of.id));
      const headings = ["NAME", "LIVE", "SHADOW", "AUTHOR", "SAVED"];
      print(deps.terminal, json, rows, table(headings, rows.map(row)));
    });

interface ShowOptions extends JsonOption {
  readonly version?: string;
}

const showCommand = (deps: PolicyDeps): Command =>
  aboutAccount("show", "print a policy's document; with --json its versions too")
    .argument("[name]", "the policy's name", DEFAULT_NAME)
    .option("--version <number>", "another version than the live one")
    .option(...JSON_OPTION)
    .action(async (account: string, name: string, { version, json }: ShowOptions) => {
      const number = version === undefined ? undefined : count(version, "version");
      const page = await withPolicies(account, deps, ({ policies, of }) =>
        policies.show(of.id, name, number),
      );
      const text = `${JSON.stringify(page.document, null, 2)}\n`;
      print(deps.terminal, json, page, text);
      for (const mistake of page.mistakes ?? []) deps.terminal.err(`Ignored: ${shown(mistake)}\n`);
    });

function saidSaved(deps: PolicyDeps, saved: SavedPolicy, words: string, json?: true): void {
  const { name, version } = saved;
  print(deps.terminal, json, saved, `${name} ${String(version)} ${words}\n`);
  if (saved.pruned !== undefined) deps.terminal.err(`${prunedWords(saved)}.\n`);
}

const setCommand = (deps: PolicyDeps): Command =>
  aboutAccount("set", "save a policy from a JSON file as a new version, which is live at once")
    .argument("<file>", 'JSON, or "-" for standard input')
    .option(...NAME_OPTION)
    .option(...JSON_OPTION)
    .action(async (account: string, file: string, { name, json }: Named) => {
      const { document } = await policyOf(file, deps);
      const saved = await withPolicies(account, deps, ({ policies, of, author }) =>
        policies.save({ account: of, author }, name, document, "live"),
      );
      saidSaved(deps, saved, "is live", json);
    });

const shadowCommand = (deps: PolicyDeps): Command =>
  aboutAccount("shadow", "run a policy beside the live one: it is counted and decides nothing")
    .argument("<file>", 'JSON, "-" for standard input, or "off"')
    .option(...NAME_OPTION)
    .option(...JSON_OPTION)
    .action(async (account: string, file: string, { name, json }: Named) => {
      if (file === "off") {
        await withPolicies(account, deps, ({ policies, of }) => policies.endShadow(of.id, name));
        print(deps.terminal, json, { name, shadow: null }, `${name} has no shadow\n`);
        return;
      }
      const { document } = await policyOf(file, deps);
      const saved = await withPolicies(account, deps, ({ policies, of, author }) =>
        policies.save({ account: of, author }, name, document, "shadow"),
      );
      saidSaved(deps, saved, "runs as shadow", json);
    });

const promoteCommand = (deps: PolicyDeps): Command =>
  aboutAccount("promote", "make the shadow live")
    .argument("[name]", "the policy's name", DEFAULT_NAME)
    .option(...JSON_OPTION)
    .action(async (account: string, name: string, { json }: JsonOption) => {
      const saved = await withPolicies(account, deps, ({ policies, of }) =>
        policies.promote(of.id, name),
      );
      saidSaved(deps, saved, "is live", json);
    });

const testCommand = (deps: PolicyDeps): Command =>
  aboutAccount("test", "apply the live policy to addresses and show the rule that decided")
    .argument("<entry...>", "addresses")
    .option(...NAME_OPTION)
    .option(...JSON_OPTION)
    .action(async (account: string, entries: string[], { name, json }: Named) => {
      const policy = await withPolicies(account, deps, (parts) => storedOf(parts, name));
      const tests = await withOpened(deps.openDecider, ({ testPolicy }) =>
        testPolicy(policy, entries, { premium: true }),
      );
      print(deps.terminal, json, tests, textOf(tests, policy));
      deps.terminal.err(untestedText(tests));
      if (tests.some(({ decision }) => decision === "reject")) throw new CommandFailure(EXIT.no);
    });

const backTestCommand = (deps: PolicyDeps): Command =>
  aboutAccount("back-test", "what a policy would have decided on the checks counted by domain")
    .argument("<file>", 'JSON, or "-" for standard input')
    .option("--days <number>", "UTC days, up to 30", "30")
    .option(...NAME_OPTION)
    .option(...JSON_OPTION)
    .action(async (account: string, file: string, options: Named & { readonly days: string }) => {
      const days = Math.min(30, count(options.days, "days"));
      const { policy: draft } = await policyOf(file, deps);
      const live = await withPolicies(account, deps, (parts) => storedOf(parts, options.name));
      const report = await withOpened(deps.openBackTest, ({ backTestPolicy }) =>
        backTestPolicy({ live, draft, days }),
      );
      print(deps.terminal, options.json, report, reportText(report, draft));
    });

const removeCommand = (deps: PolicyDeps): Command =>
  aboutAccount("remove", "remove a policy; default is the built-in one then")
    .argument("<name>", "the policy's name")
    .option(...JSON_OPTION)
    .action(async (account: string, name: string, { json }: JsonOption) => {
      await withPolicies(account, deps, ({ policies, of }) => policies.remove(of.id, name));
      print(deps.terminal, json, { name, removed: true }, `removed ${name}\n`);
    });

async function storedOf({ policies, of }: PolicyCommandParts, name: string): Promise<Policy> {
  const { document, mistakes = [] } = await policies.show(of.id, name);
  const policy = working(parsePolicy(document, { hasDomainAge: true }));
  if (policy === undefined) throw refuse(mistakes.join("\n"));
  return policy;
}

function count(text: string, name: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw misuse(`--${name}: "${shown(text)}" is not a whole number from 1`);
}

function reportText(report: BackTestReport, draft: Policy): string {
  const { days, domains, checks, changed_checks: changed, pairs } = report;
  const lines = [
    `${String(checks)} checks of ${String(domains)} domains in ${String(days)} days, ${String(changed)} decided otherwise`,
    ...pairs
      .filter(({ live, shadow }) => live !== shadow)
      .map(({ live, shadow, count: times }) => `  ${String(times)}  ${live} -> ${shadow}`),
    ...report.changed.map(
      ({ domain, live, draft, checks: times }) =>
        `  ${shown(domain)}  ${live} -> ${draft}  ${String(times)}`,
    ),
    ...report.untestable.map(
      ({ rule, facts }) =>
        `Nothing is counted by ${facts.join(", ")}, so this cannot be tested: ${shown(draft.rules[rule]?.name ?? "")}`,
    ),
  ];
  return `${lines.join("\n")}\n`;
}

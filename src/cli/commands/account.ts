import { Argument, Option, type OptionValues } from "@commander-js/extra-typings";
import { isoTime } from "../../core/calendar.ts";
import { limitsJson, readLimits } from "../../accounts/admission/tiers.ts";
import { type Account, ACCOUNT_TIERS } from "../../accounts/accounts-store.ts";
import { type AccountService, emailTaken, endedWords } from "../../accounts/accounts.ts";
import type { Credits } from "../../accounts/credits.ts";
import type { KeyService } from "../../accounts/keys.ts";
import type { AccountSwitches } from "../../gate/account-switches.ts";
import { OUTCOME_DAYS, type OutcomeReport, type ReportOutcomes } from "../../gate/outcomes.ts";
import type { Tokens } from "../../gate/tokens.ts";
import {
  accountNamed,
  type AccountCommand,
  accountRowsFor,
  group,
  rowsFor,
  wholeNumber,
} from "../command.ts";
import { misuse, refuse, shown, sure, sureToDelete, table, type Terminal } from "../terminal.ts";

/** The store as the commands use it, while a server may be running on it. */
export interface CliAccounts {
  readonly accounts: AccountService;
  readonly keys: KeyService;
  readonly credits: Credits;
  readonly switches: AccountSwitches;
  /** Forgets wrong passwords; false when there was none. */
  readonly unlock: (accountId: string) => Promise<boolean>;
  readonly reportOutcomes: ReportOutcomes;
  readonly renewTokenSecret: Tokens["renewSecret"];
}

const row = rowsFor<CliAccounts>();
const onAccount = accountRowsFor<CliAccounts>();

const create = row("create", {
  about: "create an account and its first key, which is shown once",
  takes: (to) =>
    to
      .argument("<email>", "its e-mail address")
      .addOption(
        new Option("--tier <tier>", "its plan").choices(ACCOUNT_TIERS).default("free" as const),
      )
      .option("--admin", "make it an administrator in the dashboard")
      .option("--password-stdin", "read the dashboard password from standard input"),
  json: 'print {"account_id","email","tier","api_key"}',
  examples: [
    "gatepost account create jo@example.com --tier pro",
    "echo 'a long password' | gatepost account create jo@example.com --admin --password-stdin",
  ],
  createsDatabase: true,
  async run({ args: [email], tier, admin: isAdmin = false, passwordStdin, json }, store, terminal) {
    const password = passwordStdin === true ? await terminal.readInput() : undefined;
    const order = { email, tier, isAdmin, origin: "operator" } as const;
    const answer = await store.accounts.create(
      password === undefined ? order : { ...order, password },
    );
    if (answer.kind === "email_taken") throw emailTaken();
    const { account } = answer;
    const first = await store.keys.create(account.id, "first key");
    const needsPassword =
      isAdmin && password === undefined && json !== true
        ? `To sign in, an administrator needs a password: gatepost account password ${account.email} --password-stdin\n`
        : "";
    return {
      json: {
        account_id: account.id,
        email: account.email,
        tier: account.tier,
        api_key: first.apiKey,
      },
      text: `account ${account.id} (${account.email}, ${account.tier})\nkey     ${first.apiKey}\nThe key is not shown again.\n`,
      notes: needsPassword,
    };
  },
});

async function promote(
  { accounts }: CliAccounts,
  { id, email }: Account,
  { err }: Terminal,
): Promise<void> {
  const takenOver = (await accounts.promote(id))?.takenOver;
  if (takenOver === undefined) return;
  err(
    `Warning: ${email} was registered by a sign-up, which proves nothing about its owner. ` +
      `It has a new password, every browser is signed out, and what could act for it ended: ${endedWords(takenOver)}.\n` +
      `password ${takenOver.password}\nThe password is not shown again.\n` +
      (takenOver.policies.length === 0
        ? ""
        : `Its policies stay: ${takenOver.policies.join(", ")}. Read them: gatepost policy show ${email} NAME\n`),
  );
}

function accountJson(account: Account): Readonly<Record<string, unknown>> {
  return {
    account_id: account.id,
    email: account.email,
    tier: account.tier,
    credits: account.creditBalance,
    admin: account.isAdmin,
    disabled: account.isDisabled,
    second_factor: account.secondFactor !== undefined,
    counts_traffic: account.trafficSince > 0,
    logs_decisions: account.logsDecisions,
    ...(account.limits !== undefined && { limits: limitsJson(account.limits) }),
    created_at: isoTime(account.createdAtMs),
  };
}

const cells = (account: Account): readonly string[] => [
  account.id,
  account.email,
  account.tier,
  String(account.creditBalance),
  [
    account.isDisabled ? "disabled" : "enabled",
    ...(account.isAdmin ? ["admin"] : []),
    ...(account.trafficSince <= 0 ? ["no traffic"] : []),
    ...(account.logsDecisions ? ["log"] : []),
    ...(account.limits !== undefined ? ["own limits"] : []),
  ].join(" "),
];

const list = row("list", {
  about: "list all accounts",
  json: "print an array",
  examples: ["gatepost account list --json"],
  async run(_given, { accounts }) {
    const all: Account[] = [];
    for await (const page of accounts.all()) all.push(...page);
    const headings = ["ID", "EMAIL", "TIER", "CREDITS", "STATE"];
    return { json: all.map(accountJson), text: table(headings, all.map(cells)) };
  },
});

/** Rows that change an account and print it. */
const changing = <
  Args extends [string, ...unknown[]] = [string],
  Options extends OptionValues = Record<never, never>,
>(
  name: string,
  { run, ...more }: AccountCommand<Args, Options, CliAccounts, unknown>,
) =>
  onAccount<Args, Options>(name, {
    ...more,
    json: "print the account",
    async run(found, store, given, terminal) {
      await run(found, store, given, terminal);
      const account = await accountNamed(store, found.id);
      return { json: accountJson(account), text: `${cells(account).join("  ")}\n` };
    },
  });

function readAmount(text: string): number {
  if (/^[+-]?\d{1,12}$/.test(text)) return Number(text);
  throw misuse("the amount must be a whole number");
}

const switching = (
  name: string,
  about: string,
  example: "on" | "off",
  work: (switches: AccountSwitches, id: string, state: "on" | "off") => Promise<unknown>,
) =>
  changing(name, {
    about,
    takes: (to) => to.addArgument(new Argument("<state>").choices(["on", "off"])),
    examples: [`gatepost account ${name} jo@example.com ${example}`],
    run: ({ id }, { switches }, { args: [, state] }) => work(switches, id, state),
  });

const CHANGES = [
  changing("tier", {
    about: "change an account's plan",
    takes: (to) => to.addArgument(new Argument("<tier>").choices(ACCOUNT_TIERS)),
    examples: ["gatepost account tier jo@example.com starter"],
    run: ({ id }, { accounts }, { args: [, tier] }) => accounts.setTier(id, tier),
  }),
  changing("credit", {
    about: "add credits to an account, or remove them with a negative amount",
    takes: (to) =>
      to
        .argument("<amount>", "a whole number, such as 1000 or -50", readAmount)
        .option("--reason <text>", "stored with the credit entry", "operator"),
    examples: ["gatepost account credit jo@example.com 1000 --reason 'invoice 17'"],
    run: ({ id }, { credits }, { args: [, amount], reason }) => credits.grant(id, amount, reason),
  }),
  changing("disable", {
    about: "disable an account and its keys",
    examples: ["gatepost account disable jo@example.com"],
    run: ({ id }, { accounts }) => accounts.disable(id),
  }),
  changing("enable", {
    about: "enable an account and its keys",
    examples: ["gatepost account enable jo@example.com"],
    run: ({ id }, { accounts }) => accounts.enable(id),
  }),
  changing("promote", {
    about: "make an account an administrator in the dashboard, with the plan pro",
    takes: (to) => to.option("--yes", "do not ask"),
    examples: ["gatepost account promote jo@example.com"],
    async run(account, store, given, terminal) {
      const more =
        account.origin === "signup" ? " A sign-up made it: its keys, hooks and webhook end." : "";
      await sure(terminal, given, `Make ${account.email} an administrator?${more}`);
      await promote(store, account, terminal);
    },
  }),
  changing("demote", {
    about: "take an account's administrator rights away",
    examples: ["gatepost account demote jo@example.com"],
    run: ({ id }, { accounts }) => accounts.demote(id),
  }),
  changing("second-factor", {
    about: "let an account sign in with its password alone again",
    takes: (to) => to.addArgument(new Argument("<state>").choices(["off"])),
    examples: ["gatepost account second-factor jo@example.com off"],
    run: ({ id }, { accounts }) => accounts.endSecondFactor(id),
  }),
  changing("password", {
    about: "set an account's dashboard password",
    takes: (to) =>
      to.requiredOption("--password-stdin", "read the password from standard input (required)"),
    examples: ["gatepost account password jo@example.com --password-stdin < password.txt"],
    async run({ id }, { accounts }, _given, { readInput }) {
      await accounts.setPassword(id, await readInput());
    },
  }),
  switching(
    "traffic",
    "count mailboxes and domains in the account's decisions, as keyed hashes; off deletes the counts",
    "off",
    (switches, id, state) => switches.switchTraffic(id, state),
  ),
  switching(
    "log",
    "keep the account's last 10,000 decisions of 7 days, without addresses; off deletes them",
    "on",
    (switches, id, state) => switches.switchLog(id, state),
  ),
];

const remove = onAccount("delete", {
  about: "delete an account with all it holds, which cannot be undone",
  takes: (to) => to.option("--yes", "do not ask; needed without a terminal"),
  json: 'print {"account_id","deleted"}',
  examples: ["gatepost account delete jo@example.com --yes"],
  async run({ id, email }, { accounts }, given, terminal) {
    const question = `Delete ${email} with its keys, lists, policies and counts?`;
    await sureToDelete(terminal, given, question);
    if (!(await accounts.erase(id))) throw refuse(`no account ${email}`);
    return { json: { account_id: id, deleted: true }, text: `deleted ${email}\n` };
  },
});

const OR_NONE = '; "none" is no limit';

const readLimit =
  (option: string) =>
  (text: string): number | "none" => {
    if (text === "none") return text; // commander takes null for a missing value
    if (/^\d{1,15}$/.test(text)) return Number(text);
    throw misuse(`--${option}: "${text}" is neither a whole number nor none`);
  };

const limits = onAccount("limits", {
  about: "show or set an account's own limits",
  takes: (to) =>
    to
      .option("--rate <n>", `requests a minute${OR_NONE}`, readLimit("rate"))
      .option("--daily <n>", `units a day (UTC)${OR_NONE}`, readLimit("daily"))
      .option("--monthly <n>", `units a month (UTC)${OR_NONE}`, readLimit("monthly"))
      .option("--bulk <n>", `unique entries in one list${OR_NONE}`, readLimit("bulk"))
      .option("--watch <n>", `domains watched${OR_NONE}`, readLimit("watch"))
      .addOption(
        new Option("--plan", "go back to the plan's numbers").conflicts([
          "rate",
          "daily",
          "monthly",
          "bulk",
          "watch",
        ]),
      ),
  json: "print the account's own numbers",
  examples: [
    "gatepost account limits jo@example.com --rate 1000 --daily none",
    "gatepost account limits jo@example.com --plan",
  ],
  async run(known, store, { rate, daily, monthly, bulk, watch, plan = false }) {
    const given = { rate_per_minute: rate, daily, monthly, bulk_limit: bulk, watch };
    const numbers = Object.entries(given).map(([name, n]) => [name, n === "none" ? null : n]);
    const changed = readLimits(Object.fromEntries(numbers) as Record<string, unknown>);
    if (typeof changed === "string") throw misuse(changed);
    if (plan) await store.accounts.setLimits(known.id, {});
    else if (Object.keys(changed).length > 0) {
      await store.accounts.setLimits(known.id, { ...known.limits, ...changed });
    }
    const json = limitsJson((await accountNamed(store, known.id)).limits);
    const lines = Object.entries(json).map(([field, n]) => `${field}  ${String(n ?? "none")}\n`);
    return { json, text: lines.join("") || "the plan's numbers\n" };
  },
});

const unlock = onAccount("unlock", {
  about: "end the delay after wrong passwords, from everywhere",
  json: 'print {"account_id","unlocked"}',
  examples: ["gatepost account unlock jo@example.com"],
  async run({ id }, store) {
    const unlocked = await store.unlock(id);
    const text = unlocked ? "The next sign-in is not delayed.\n" : "There was no wrong password.\n";
    return { json: { account_id: id, unlocked }, text };
  },
});

const tokenSecret = onAccount("token-secret", {
  about: "make a new secret for the account's tokens; the old one ends at once",
  json: 'print {"account_id","token_secret"}',
  examples: ["gatepost account token-secret jo@example.com"],
  async run({ id }, store) {
    const secret = await store.renewTokenSecret(id);
    return {
      json: { account_id: id, token_secret: secret },
      text: `account       ${id}\ntoken secret  ${secret}\nThe secret is not shown again. The old one ended.\n`,
    };
  },
});

const DAYS = `UTC days, up to ${String(OUTCOME_DAYS)}`;

const outcomes = onAccount("outcomes", {
  about: "what was decided on the account's sign-ups",
  takes: (to) => to.option("--days <number>", DAYS, wholeNumber("--days", 1, OUTCOME_DAYS), 30),
  examples: ["gatepost account outcomes jo@example.com --days 7"],
  async run({ id }, store, { days }) {
    const report = await store.reportOutcomes(id, days);
    return { json: report, text: outcomesText(report) };
  },
});

type Counts = Omit<OutcomeReport["days"][number], "day">;

const counts = ({ accept, challenge, review, reject }: Counts): readonly string[] =>
  [accept, challenge, review, reject].map(String);

/** Days without a decision are left out. */
function outcomesText({ days, reasons, keys, forms, total }: OutcomeReport): string {
  if (total === 0) return "no decisions in these days\n";
  const counted = (heading: string, rows: readonly (readonly string[])[]): string =>
    table([heading, "ACCEPT", "CHALLENGE", "REVIEW", "REJECT"], rows);
  const busy = days.filter((day) => counts(day).some((count) => count !== "0"));
  const causes = reasons.map(({ decision, reason, count }) => [decision, reason, String(count)]);
  const named = keys.map((key) => [shown(key.name ?? key.key_id ?? "none"), ...counts(key)]);
  return [
    counted(
      "DAY",
      busy.map((day) => [day.day, ...counts(day)]),
    ),
    table(["DECISION", "REASON", "COUNT"], causes),
    counted("KEY", named),
    counted(
      "FORM",
      forms.map((form) => [shown(form.form ?? "none"), ...counts(form)]),
    ),
  ].join("\n");
}

/** `gatepost account ...`; may run beside a server, which follows within 5 s. */
export const accountCommand = group("account", "accounts: who may use the service, and how much", [
  create,
  list,
  ...CHANGES,
  remove,
  limits,
  unlock,
  tokenSecret,
  outcomes,
]);

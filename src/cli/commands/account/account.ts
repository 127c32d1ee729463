import { Argument, Command, Option } from "commander";
import { isoTime } from "../../../core/calendar.ts";
import { limitsJson } from "../../../accounts/admission/tiers.ts";
import { type Account, ACCOUNT_TIERS, type AccountTier } from "../../../accounts/accounts-store.ts";
import type { AccountOrder } from "../../../accounts/accounts.ts";
import { GRANT_MAX, REASON_MAX } from "../../../accounts/credits.ts";
import { misuse, print, refuse, shown, table } from "../../terminal.ts";
import type { OutcomeReport } from "../../../gate/gate-shapes.ts";
import { OUTCOME_DAYS } from "../../../gate/outcome-report.ts";
import { type AccountDeps, type CliAccounts, accountNamed, withAccounts } from "./account-deps.ts";
import { type JsonOption, aboutAccount } from "../options.ts";
import {
  deleteCommand,
  emailCommand,
  limitsCommand,
  promote,
  sure,
  unlockCommand,
  type YesOption,
} from "./operate.ts";

/** `gatepost account ...`; may run beside a server, which follows within 5 s. */
export function accountCommand(deps: AccountDeps): Command {
  return new Command("account")
    .description("accounts: who may use the service, and how much")
    .addCommand(createCommand(deps))
    .addCommand(listCommand(deps))
    .addCommand(tierCommand(deps))
    .addCommand(creditCommand(deps))
    .addCommand(stateCommand(deps, "disable"))
    .addCommand(stateCommand(deps, "enable"))
    .addCommand(promoteCommand(deps))
    .addCommand(stateCommand(deps, "demote"))
    .addCommand(deleteCommand(deps))
    .addCommand(limitsCommand(deps))
    .addCommand(unlockCommand(deps))
    .addCommand(secondFactorCommand(deps))
    .addCommand(emailCommand(deps))
    .addCommand(passwordCommand(deps))
    .addCommand(tokenSecretCommand(deps))
    .addCommand(switchCommand(deps, "traffic"))
    .addCommand(switchCommand(deps, "log"))
    .addCommand(outcomesCommand(deps));
}

interface CreateAccountOptions extends JsonOption {
  readonly tier: AccountTier;
  readonly admin?: true;
  readonly passwordStdin?: true;
}

function createCommand(deps: AccountDeps): Command {
  return new Command("create")
    .description("create an account and its first key, which is shown once")
    .argument("<email>", "its e-mail address")
    .addOption(new Option("--tier <tier>", "its plan").choices(ACCOUNT_TIERS).default("free"))
    .option("--admin", "make it an administrator in the dashboard")
    .option("--password-stdin", "read the dashboard password from standard input")
    .option("--json", 'print {"account_id","email","tier","api_key"}')
    .action(async (email: string, options: CreateAccountOptions) => {
      const password = options.passwordStdin === true ? await deps.readInput() : undefined;
      const { tier, admin: isAdmin = false } = options;
      const order = { email, tier, isAdmin, origin: "operator" } as const;
      const { err: warn } = deps.terminal;
      const made = await withAccounts(
        deps,
        (store) => create(store, password === undefined ? order : { ...order, password }, warn),
        "may_create",
      );
      const { account, apiKey } = made;
      const json = {
        account_id: account.id,
        email: account.email,
        tier: account.tier,
        api_key: apiKey,
      };
      const text = `account ${account.id} (${account.email}, ${account.tier})\nkey     ${apiKey}\n`;
      print(deps.terminal, options.json, json, `${text}The key is not shown again.\n`);
      if (isAdmin && password === undefined && options.json !== true && !made.isTakenOver) {
        deps.terminal.err(
          `To sign in, an administrator needs a password: gatepost account password ${account.email} --password-stdin\n`,
        );
      }
    });
}

async function create(
  store: CliAccounts,
  order: AccountOrder,
  warn: (text: string) => void,
): Promise<{ account: Account; apiKey: string; isTakenOver: boolean }> {
  const answer = await store.accounts.create(order);
  if (answer.kind === "bad_email") throw misuse(`${shown(order.email)}: not a valid email address`);
  if (answer.kind === "bad_password") throw misuse(answer.mistake);
  const known = answer.kind === "created" ? undefined : await store.accounts.find(order.email);
  if (answer.kind !== "created" && (known?.origin !== "signup" || !order.isAdmin)) {
    throw refuse(`${shown(order.email)}: an account with this email address exists`);
  }
  if (known !== undefined) await promote(store, known, warn, order.password);
  const account =
    answer.kind === "created" ? answer.account : await accountNamed(store, order.email);
  const first = await store.keys.create(account.id, "first key");
  if (first.kind === "too_many") throw refuse(`${account.email}: the account has too many keys`);
  if (first.kind !== "created") throw new Error(`the first key: ${first.kind}`);
  return { account, apiKey: first.apiKey, isTakenOver: known !== undefined };
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

function listCommand(deps: AccountDeps): Command {
  return new Command("list")
    .description("list all accounts")
    .option("--json", "print an array")
    .action(async ({ json }: JsonOption) => {
      const all = await withAccounts(deps, async ({ accounts }) => {
        const found: Account[] = [];
        for await (const page of accounts.all()) found.push(...page);
        return found;
      });
      const headings = ["ID", "EMAIL", "TIER", "CREDITS", "STATE"];
      print(deps.terminal, json, all.map(accountJson), table(headings, all.map(row)));
    });
}

const row = (account: Account): readonly string[] => [
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

function changing(
  deps: AccountDeps,
  work: (store: CliAccounts, account: Account) => Promise<void>,
): (name: string, options: JsonOption) => Promise<void> {
  return async (name, { json }) => {
    const account = await withAccounts(deps, async (store) => {
      const found = await accountNamed(store, name);
      await work(store, found);
      return accountNamed(store, found.id);
    });
    const { terminal } = deps;
    print(terminal, json, accountJson(account), `${row(account).join("  ")}\n`);
  };
}

function tierCommand(deps: AccountDeps): Command {
  return aboutAccount("tier", "change an account's plan")
    .addArgument(new Argument("<tier>").choices(ACCOUNT_TIERS))
    .option("--json", "print the account")
    .action((name: string, tier: AccountTier, options: JsonOption) =>
      changing(deps, async (store, { id }) => {
        await store.accounts.setTier(id, tier);
      })(name, options),
    );
}

function creditCommand(deps: AccountDeps): Command {
  return aboutAccount("credit", "add credits to an account, or remove them with a negative amount")
    .argument("<amount>", "a whole number, such as 1000 or -50")
    .option("--reason <text>", "stored with the credit entry", "operator")
    .option("--json", "print the account")
    .action((name: string, amount: string, options: JsonOption & { readonly reason: string }) => {
      if (!/^[+-]?\d{1,12}$/.test(amount)) throw misuse("the amount must be a whole number");
      const work = (store: CliAccounts, { id }: Account): Promise<void> =>
        credit(store, id, Number(amount), options.reason);
      return changing(deps, work)(name, options);
    });
}

async function credit(
  { credits }: CliAccounts,
  id: string,
  amount: number,
  reason: string,
): Promise<void> {
  const answer = await credits.grant(id, amount, reason);
  if (answer.kind === "bad_amount") {
    throw misuse(`the amount must be from 1 to ${String(GRANT_MAX)}, or its negative`);
  }
  if (answer.kind === "bad_reason") {
    throw misuse(`--reason must be one line of up to ${String(REASON_MAX)} characters`);
  }
  if (answer.kind === "out_of_range") {
    throw refuse(
      `the balance is ${String(answer.balance)}: the result would be negative or too large`,
    );
  }
}

const STATES = {
  disable: "disable an account and its keys",
  enable: "enable an account and its keys",
  demote: "take an account's administrator rights away",
} as const;

function stateCommand(deps: AccountDeps, verb: keyof typeof STATES): Command {
  return aboutAccount(verb, STATES[verb])
    .option("--json", "print the account")
    .action(
      changing(deps, async (store, account) => {
        await store.accounts[verb](account.id);
      }),
    );
}

const promoteCommand = (deps: AccountDeps): Command =>
  aboutAccount("promote", "make an account an administrator in the dashboard, with the plan pro")
    .option("--yes", "do not ask")
    .option("--json", "print the account")
    .action(async (name: string, options: YesOption) => {
      const { email, origin } = await withAccounts(deps, (store) => accountNamed(store, name));
      const more =
        origin === "signup" ? " A sign-up made it: its keys, hooks and webhook end." : "";
      await sure(deps, options, `Make ${email} an administrator?${more}`);
      const work = (store: CliAccounts, account: Account): Promise<void> =>
        promote(store, account, deps.terminal.err);
      await changing(deps, work)(name, options);
    });

function passwordCommand(deps: AccountDeps): Command {
  return aboutAccount("password", "set an account's dashboard password")
    .requiredOption("--password-stdin", "read the password from standard input (required)")
    .option("--json", "print the account")
    .action(
      changing(deps, async ({ accounts }, { id }) => {
        const answer = await accounts.setPassword(id, await deps.readInput());
        if (typeof answer === "object") throw misuse(answer.mistake);
      }),
    );
}

const secondFactorCommand = (deps: AccountDeps): Command =>
  aboutAccount("second-factor", "let an account sign in with its password alone again")
    .addArgument(new Argument("<state>").choices(["off"]))
    .option("--json", "print the account")
    .action((name: string, _state: "off", options: JsonOption) =>
      changing(deps, async ({ accounts }, { id }) => {
        await accounts.endSecondFactor(id);
      })(name, options),
    );

const SWITCHES = {
  traffic: {
    does: "count mailboxes and domains in the account's decisions, as keyed hashes; off deletes the counts",
    change: "switchTraffic",
  },
  log: {
    does: "keep the account's last 10,000 decisions of 7 days, without addresses; off deletes them",
    change: "switchLog",
  },
} as const;

function switchCommand(deps: AccountDeps, name: keyof typeof SWITCHES): Command {
  const { does, change } = SWITCHES[name];
  return aboutAccount(name, does)
    .addArgument(new Argument("<state>").choices(["on", "off"]))
    .option("--json", "print the account")
    .action((account: string, state: "on" | "off", options: JsonOption) =>
      changing(deps, async ({ switches }, { id }) => {
        await switches[change](id, state);
      })(account, options),
    );
}

function tokenSecretCommand(deps: AccountDeps): Command {
  return aboutAccount(
    "token-secret",
    "make a new secret for the account's tokens; the old one ends at once",
  )
    .option("--json", 'print {"account_id","token_secret"}')
    .action(async (name: string, { json }: JsonOption) => {
      const made = await withAccounts(deps, async (store) => {
        const { id } = await accountNamed(store, name);
        return { account_id: id, token_secret: await store.renewTokenSecret(id) };
      });
      const text = `account       ${made.account_id}\ntoken secret  ${made.token_secret}\n`;
      print(
        deps.terminal,
        json,
        made,
        `${text}The secret is not shown again. The old one ended.\n`,
      );
    });
}

function outcomesCommand(deps: AccountDeps): Command {
  return aboutAccount("outcomes", "what was decided on the account's sign-ups")
    .option("--days <number>", `UTC days, up to ${String(OUTCOME_DAYS)}`, "30")
    .option("--json", "print JSON alone")
    .action(async (name: string, { days, json }: JsonOption & { readonly days: string }) => {
      const number = Number(days);
      if (!/^\d{1,3}$/.test(days) || number < 1 || number > OUTCOME_DAYS) {
        throw misuse(`--days: "${shown(days)}" is not a number from 1 to ${String(OUTCOME_DAYS)}`);
      }
      const report = await withAccounts(deps, async (store) => {
        const account = await accountNamed(store, name);
        return store.reportOutcomes(account.id, number);
      });
      print(deps.terminal, json, report, outcomesText(report));
    });
}

const DECISION_HEADINGS = ["ACCEPT", "CHALLENGE", "REVIEW", "REJECT"];

type OutcomeDay = OutcomeReport["days"][number];

const counts = ({
  accept,
  challenge,
  review,
  reject,
}: Omit<OutcomeDay, "day">): readonly string[] => [accept, challenge, review, reject].map(String);

/** Days without a decision are left out. */
function outcomesText({ days, reasons, keys, forms, total }: OutcomeReport): string {
  if (total === 0) return "no decisions in these days\n";
  const busy = days.filter((day) => counts(day).some((count) => count !== "0"));
  return [
    table(
      ["DAY", ...DECISION_HEADINGS],
      busy.map((day) => [day.day, ...counts(day)]),
    ),
    table(
      ["DECISION", "REASON", "COUNT"],
      reasons.map(({ decision, reason, count }) => [decision, reason, String(count)]),
    ),
    table(
      ["KEY", ...DECISION_HEADINGS],
      keys.map((key) => [shown(key.name ?? key.key_id ?? "none"), ...counts(key)]),
    ),
    table(
      ["FORM", ...DECISION_HEADINGS],
      forms.map((form) => [shown(form.form ?? "none"), ...counts(form)]),
    ),
  ].join("\n");
}

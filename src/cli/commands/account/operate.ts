import { type Command, Option } from "commander";
import type { Account } from "../../../accounts/accounts-store.ts";
import type { EndedAccess } from "../../../accounts/accounts-store.ts";
import { limitsJson, readLimits } from "../../../accounts/admission/tiers.ts";
import { endedWords } from "../../../accounts/accounts.ts";
import { misuse, print, refuse } from "../../terminal.ts";
import { aboutAccount, type JsonOption } from "../options.ts";
import { type AccountDeps, accountNamed, type CliAccounts, withAccounts } from "./account-deps.ts";

export interface YesOption extends JsonOption {
  readonly yes?: true;
}

/** A script has named what it changes; only an interactive user is asked. */
export async function sure(
  { terminal, confirm }: Pick<AccountDeps, "terminal" | "confirm">,
  { yes }: YesOption,
  question: string,
): Promise<void> {
  if (yes === true || !terminal.interactive || (await confirm(question))) return;
  throw refuse("nothing changed");
}

/** `gatepost account delete`: the account and all that it holds. */
export const deleteCommand = (deps: AccountDeps): Command =>
  aboutAccount("delete", "delete an account with all it holds, which cannot be undone")
    .option("--yes", "do not ask")
    .option("--json", 'print {"account_id","deleted"}')
    .action(async (name: string, options: YesOption) => {
      const { id, email } = await withAccounts(deps, (store) => accountNamed(store, name));
      await sure(deps, options, `Delete ${email} with its keys, lists, policies and counts?`);
      const isDeleted = await withAccounts(deps, ({ accounts }) => accounts.erase(id));
      if (!isDeleted) throw refuse(`no account ${email}`);
      print(deps.terminal, options.json, { account_id: id, deleted: true }, `deleted ${email}\n`);
    });

const LIMITS = {
  rate: ["rate_per_minute", "requests a minute"],
  daily: ["daily", "units a day (UTC)"],
  monthly: ["monthly", "units a month (UTC)"],
  bulk: ["bulk_limit", "unique entries in one list"],
} as const;
type LimitOptions = Partial<Record<keyof typeof LIMITS, string>> &
  JsonOption & { readonly plan?: true };

/** `gatepost account limits`: numbers of its own in place of the plan's. */
export function limitsCommand(deps: AccountDeps): Command {
  const command = aboutAccount("limits", "show or set an account's own limits");
  for (const [name, [, what]] of Object.entries(LIMITS)) {
    command.option(`--${name} <n>`, `${what}; "none" is no limit`);
  }
  return command
    .addOption(new Option("--plan", "go back to the plan's numbers").conflicts(Object.keys(LIMITS)))
    .option("--json", "print the account's own numbers")
    .action(async (name: string, options: LimitOptions) => {
      const given = Object.entries(LIMITS).map(([option, [field]]) => {
        const text = options[option as keyof typeof LIMITS];
        return [field, text === undefined ? undefined : numberOf(option, text)] as const;
      });
      const changed = readLimits(Object.fromEntries(given));
      if (typeof changed === "string") throw misuse(changed);
      const { limits } = await withAccounts(deps, async (store) => {
        const known = await accountNamed(store, name);
        const next = options.plan === true ? {} : { ...known.limits, ...changed };
        const isChange = options.plan === true || Object.keys(changed).length > 0;
        if (isChange) await store.accounts.setLimits(known.id, next);
        return accountNamed(store, known.id);
      });
      const json = limitsJson(limits);
      const lines = Object.entries(json).map(([field, n]) => `${field}  ${String(n ?? "none")}\n`);
      print(deps.terminal, options.json, json, lines.join("") || "the plan's numbers\n");
    });
}

function numberOf(option: string, text: string): number | null {
  if (text === "none") return null;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw misuse(`--${option}: "${text}" is neither a whole number nor none`);
}

/** `gatepost account email`: its owner can only ask for it. */
export const emailCommand = (deps: AccountDeps): Command =>
  aboutAccount("email", "give an account another e-mail address, with which its owner signs in")
    .argument("<address>", "the new address, which no other account has")
    .option("--json", 'print {"account_id","email"}')
    .action(async (name: string, address: string, { json }: JsonOption) => {
      const { id, email } = await withAccounts(deps, async (store) => {
        const account = await accountNamed(store, name);
        const answer = await store.accounts.setEmail(account.id, address);
        if (answer === "bad_email") throw misuse("that is not a valid email address");
        if (answer === "taken") throw refuse("another account has this address");
        return accountNamed(store, account.id);
      });
      print(deps.terminal, json, { account_id: id, email }, `${name} is ${email} now\n`);
    });

/** `gatepost account unlock`: wrong passwords are forgotten, so that its owner can sign in now. */
export const unlockCommand = (deps: AccountDeps): Command =>
  aboutAccount("unlock", "end the delay after wrong passwords, from everywhere")
    .option("--json", 'print {"account_id","unlocked"}')
    .action(async (name: string, { json }: JsonOption) => {
      const { id, isDelayed } = await withAccounts(deps, async (store) => {
        const account = await accountNamed(store, name);
        return { id: account.id, isDelayed: await store.unlock(account.id) };
      });
      const words = isDelayed
        ? "The next sign-in is not delayed.\n"
        : "There was no wrong password.\n";
      print(deps.terminal, json, { account_id: id, unlocked: isDelayed }, words);
    });

/** Warns when a sign-up made the account. */
export async function promote(
  { accounts }: CliAccounts,
  { id, email }: Account,
  warn: (text: string) => void,
  given?: string,
): Promise<void> {
  const takenOver = (await accounts.promote(id, given))?.takenOver;
  if (takenOver === undefined) return;
  warn(
    `Warning: ${email} was registered by a sign-up, which proves nothing about its owner. ` +
      `It has a new password, every browser is signed out, and what could act for it ended: ${endedWords(takenOver)}.\n` +
      (given === undefined
        ? `password ${takenOver.password}\nThe password is not shown again.\n`
        : "") +
      policyWords(takenOver, email),
  );
}

const policyWords = ({ policies }: EndedAccess, email: string): string =>
  policies.length === 0
    ? ""
    : `Its policies stay: ${policies.join(", ")}. Read them: gatepost policy show ${email} NAME\n`;

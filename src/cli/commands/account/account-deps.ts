import type { AccountService } from "../../../accounts/accounts.ts";
import type { Credits } from "../../../accounts/credits.ts";
import type { KeyService } from "../../../accounts/keys.ts";
import type { AccountSwitches } from "../../../gate/account-switches.ts";
import type { ReportOutcomes } from "../../../gate/outcome-report.ts";
import type { Tokens } from "../../../gate/tokens.ts";
import { type DatabaseUse, type Terminal, refuse, shown, withOpened } from "../../terminal.ts";

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
  readonly close: () => Promise<void>;
}

export interface AccountDeps {
  readonly terminal: Terminal;
  readonly openAccounts: (database?: DatabaseUse) => Promise<CliAccounts>;
  /** Standard input to its end, up to a few KB; one line feed at its end is removed. */
  readonly readInput: () => Promise<string>;
  /** Asks a person; called on an interactive terminal only. */
  readonly confirm: (question: string) => Promise<boolean>;
}

export const withAccounts = <T>(
  { openAccounts }: Pick<AccountDeps, "openAccounts">,
  work: (store: CliAccounts) => Promise<T>,
  database?: DatabaseUse,
): Promise<T> => withOpened(() => openAccounts(database), work);

/** The account with that id or e-mail address; without one the command's answer is no. */
export async function accountNamed<T>(
  { accounts }: { readonly accounts: { find(idOrEmail: string): Promise<T | undefined> } },
  name: string,
): Promise<T> {
  const account = await accounts.find(name);
  if (account === undefined) throw refuse(`no account ${shown(name)}`);
  return account;
}

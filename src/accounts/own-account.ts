import type { AccountDirectory } from "./account-directory.ts";
import type { SignedIn, Visitor } from "./sign-in/sign-ins.ts";
import type { AccountService } from "./accounts.ts";
import { badField, notNow, wrongCurrentPassword } from "../base/refusals.ts";
import type { Audit } from "./audit.ts";
import type { SignIn } from "./sign-in/sign-in.ts";
import { checkPassword } from "./sign-in/sign-up.ts";

interface OwnAccountDeps {
  readonly accounts: Pick<AccountService, "setPassword" | "setEmail">;
  readonly directory: Pick<AccountDirectory, "erase">;
  readonly signIn: Pick<SignIn, "isPassword">;
  readonly audit: Audit;
}

/** Steps that ask for the password again. All throw a `Refusal` for a wrong one. */
export interface OwnAccount {
  changePassword(who: SignedIn, words: PasswordChange, visitor: Visitor): Promise<void>;
  changeEmail(
    who: SignedIn,
    words: { readonly password: string; readonly email: string },
    visitor: Visitor,
  ): Promise<void>;
  erase(who: SignedIn, password: string, visitor: Visitor): Promise<void>;
}

interface PasswordChange {
  readonly current: string;
  readonly next: string;
}

export function createOwnAccount(deps: OwnAccountDeps): OwnAccount {
  const { accounts, directory, signIn, audit } = deps;
  const confirm = async (who: SignedIn, password: string, visitor: Visitor): Promise<void> => {
    if (!(await signIn.isPassword(who.account.id, password, visitor))) throw wrongCurrentPassword();
  };
  return {
    async changePassword(who, { current, next }, visitor) {
      const { account, session } = who;
      checkPassword(next, account.email);
      await confirm(who, current, visitor);
      await accounts.setPassword(account.id, next, session.id);
      await audit({ action: "account.password", ...actor(who, visitor) });
    },
    async changeEmail(who, { password, email }, visitor) {
      const { id } = who.account;
      await confirm(who, password, visitor);
      const answer = await accounts.setEmail(id, email);
      if (answer === "bad_email") throw badField("That is not a valid email address.");
      if (answer === "taken") throw notNow("Another account has this address. Choose another one.");
      await audit({ action: "account.email", ...actor(who, visitor) });
    },
    async erase(who, password, visitor) {
      await confirm(who, password, visitor);
      // First, so that a fault in between leaves a record and not a riddle.
      await audit({ action: "account.deleted", ...actor(who, visitor) });
      await directory.erase(who.account.id);
    },
  };
}

const actor = ({ account }: SignedIn, { clientAddress }: Visitor) => ({
  actorId: account.id,
  accountId: account.id,
  clientAddress,
});

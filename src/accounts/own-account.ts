import type { SignedIn, Visitor } from "./sign-in/sign-ins.ts";
import { accountEmail, type AccountService } from "./accounts.ts";
import { badField, wrongCurrentPassword } from "../base/refusals.ts";
import { type Audit, EMAIL_ASKED } from "./audit.ts";
import type { SignIn } from "./sign-in/sign-in.ts";
import { checkPassword } from "./sign-in/sign-up.ts";

interface OwnAccountDeps {
  readonly accounts: Pick<AccountService, "setPassword" | "erase">;
  readonly signIn: Pick<SignIn, "isPassword">;
  readonly audit: Audit;
}

/** Steps that ask for the password again. All throw a `Refusal` for a wrong one. */
export class OwnAccount {
  readonly #deps: OwnAccountDeps;

  constructor(deps: OwnAccountDeps) {
    this.#deps = deps;
  }

  async changePassword(who: SignedIn, words: PasswordChange, visitor: Visitor): Promise<void> {
    const { account, session } = who;
    checkPassword(words.next, account.email);
    await this.#confirm(who, words.current, visitor);
    await this.#deps.accounts.setPassword(account.id, words.next, session.id);
    await this.#deps.audit({ action: "account.password", ...actor(who, visitor) });
  }

  /** Changes nothing, so that nobody learns whether another account has the address: an administrator reads the wish. */
  async askForEmail(
    who: SignedIn,
    { password, email }: { readonly password: string; readonly email: string },
    visitor: Visitor,
  ): Promise<void> {
    await this.#confirm(who, password, visitor);
    const detail = accountEmail(email);
    if (detail === undefined) throw badField("That is not a valid email address.");
    await this.#deps.audit({ action: EMAIL_ASKED, ...actor(who, visitor), detail });
  }

  async erase(who: SignedIn, password: string, visitor: Visitor): Promise<void> {
    await this.#confirm(who, password, visitor);
    // First, so that a fault in between leaves a record and not a riddle.
    await this.#deps.audit({ action: "account.deleted", ...actor(who, visitor) });
    await this.#deps.accounts.erase(who.account.id);
  }

  async #confirm({ account }: SignedIn, password: string, visitor: Visitor): Promise<void> {
    const isRight = await this.#deps.signIn.isPassword(account.id, password, visitor);
    if (!isRight) throw wrongCurrentPassword();
  }
}

interface PasswordChange {
  readonly current: string;
  readonly next: string;
}

const actor = ({ account }: SignedIn, { clientAddress }: Visitor) => ({
  actorId: account.id,
  accountId: account.id,
  clientAddress,
});

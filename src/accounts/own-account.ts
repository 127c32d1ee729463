import type { SignedIn, Visitor } from "./sign-in/sign-ins.ts";
import type { AccountService } from "./accounts.ts";
import { badField, wrongCurrentPassword } from "../base/refusals.ts";
import type { Audit } from "./audit.ts";
import type { SignIn } from "./sign-in/sign-in.ts";
import { checkPassword } from "./sign-in/sign-up.ts";

interface OwnAccountDeps {
  readonly accounts: Pick<AccountService, "setPassword" | "setEmail" | "erase">;
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

  async changeEmail(
    who: SignedIn,
    { password, email }: { readonly password: string; readonly email: string },
    visitor: Visitor,
  ): Promise<void> {
    await this.#confirm(who, password, visitor);
    const answer = await this.#deps.accounts.setEmail(who.account.id, email);
    if (answer === "bad_email") throw badField("That is not a valid email address.");
    // The answer never tells whether another account has the address; the old one stays in force then.
    if (answer === "taken") return;
    await this.#deps.audit({ action: "account.email", ...actor(who, visitor) });
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

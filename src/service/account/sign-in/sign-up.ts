import type { Clock } from "../../../ports/process/clock.ts";
import type { QuotaCounter } from "../../../ports/admission/quota-counter.ts";
import { type AccountService, accountEmail, PASSWORD_MAX, PASSWORD_MIN } from "../accounts.ts";
import { bucketKey, bucketOf } from "../../admission/bucket.ts";
import { badField, signUpClosed, signUpsSpent } from "../../refusals.ts";
import type { Audit } from "../audit.ts";
import type { Visitor } from "./sign-ins.ts";

/** Accounts that one address bucket may make in a UTC day; known e-mail addresses count too. */
const SIGN_UPS_PER_DAY = 3;

export interface SignUpDeps {
  /** GATEPOST_SIGNUP. */
  readonly mode: "open" | "closed";
  readonly accounts: Pick<AccountService, "create">;
  readonly quotas: Pick<QuotaCounter, "take">;
  readonly audit: Audit;
  readonly clock: Pick<Clock, "nowMs">;
}

/** Makes a free account. The answer never tells whether the e-mail address was known; throws a `Refusal`. */
export type SignUp = (email: string, password: string, visitor: Visitor) => Promise<void>;

export function createSignUp({ mode, accounts, quotas, audit, clock }: SignUpDeps): SignUp {
  return async (email, password, { clientAddress }) => {
    if (mode === "closed") throw signUpClosed();
    if (accountEmail(email) === undefined) throw badField("That is not a valid email address.");
    checkPassword(password, email);
    // The prefix makes the day's count go with those of anonymous address buckets.
    const owner = `bucket:sign-up:${bucketOf(clientAddress).bucket}`;
    const limits = { daily: SIGN_UPS_PER_DAY, monthly: null };
    const taken = await quotas.take(owner, 1, limits, clock.nowMs());
    if (taken.kind === "spent") throw signUpsSpent(SIGN_UPS_PER_DAY);
    const by = bucketKey(clientAddress);
    const order = { email, password, tier: "free", origin: "signup", isAdmin: false, by } as const;
    const answer = await accounts.create(order);
    if (answer.kind !== "created") return; // "email_taken": nothing happened, and nobody is told
    const { id } = answer.account;
    await audit({ action: "account.created", actorId: id, accountId: id, clientAddress });
  };
}

/** Throws a `Refusal` that says what would do. */
export function checkPassword(password: string, email: string): void {
  if (password.length < PASSWORD_MIN) {
    throw badField(`The password needs at least ${String(PASSWORD_MIN)} characters.`);
  }
  if (password.length > PASSWORD_MAX) throw badField("The password is too long.");
  if (password.toLowerCase() === email.trim().toLowerCase()) {
    throw badField("The password must not be the e-mail address.");
  }
  if (new Set(password).size < 4) {
    throw badField("The password repeats the same few characters. Choose another.");
  }
}

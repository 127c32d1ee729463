import type { Accounts } from "../../../ports/admission/accounts.ts";
import type { Clock } from "../../../ports/process/clock.ts";
import type { Ids } from "../../../ports/process/ids.ts";
import type { Passwords } from "../../../ports/account/passwords.ts";
import type { RateCounter } from "../../../ports/admission/rate-counter.ts";
import { accountEmail, PASSWORD_MAX } from "../accounts.ts";
import { bucketKey, bucketOf } from "../../admission/bucket.ts";
import { accountDisabled, tooManyAttempts, wrongPassword } from "../../refusals.ts";
import type { Audit } from "../audit.ts";
import type { SignInService, StartedSession, Visitor } from "./sign-ins.ts";

/** Attempts in a minute from one address; there is no limit by account, because it would lock its owner out. */
const ATTEMPTS_PER_MINUTE = 10;

export interface SignInDeps {
  readonly accounts: Pick<Accounts, "find" | "passwordHash">;
  readonly passwords: Passwords;
  readonly rates: RateCounter;
  readonly logins: SignInService;
  readonly audit: Audit;
  readonly ids: Ids;
  readonly clock: Clock;
}

export interface SignIn {
  /** Throws a `Refusal`, the same one for an unknown address and a wrong password. */
  signIn(email: string, password: string, visitor: Visitor): Promise<StartedSession>;
  /** Whether it is the account's password. Counted as an attempt: throws the `Refusal` of too many. */
  isPassword(accountId: string, password: string, visitor: Visitor): Promise<boolean>;
}

export function createSignIn(deps: SignInDeps): SignIn {
  const { accounts, passwords, audit, logins } = deps;
  let dummyHash: Promise<string> | undefined;
  /** A hash to verify against for unknown addresses, so that they take the same time. */
  const dummy = (): Promise<string> =>
    (dummyHash ??= passwords.hash(Buffer.from(deps.ids.bytes(24)).toString("base64url")));

  const fits = async (
    accountId: string | undefined,
    password: string,
    visitor: Visitor,
  ): Promise<boolean> => {
    const known = accountId === undefined ? undefined : await accounts.passwordHash(accountId);
    const by = bucketKey(visitor.clientAddress);
    const isRight = await passwords.verify(known ?? (await dummy()), password, by);
    return isRight && known !== undefined;
  };

  return {
    async isPassword(accountId, password, visitor) {
      await countAttempt(visitor, deps);
      return password.length <= PASSWORD_MAX && fits(accountId, password, visitor);
    },
    async signIn(email, password, visitor) {
      await countAttempt(visitor, deps);
      if (password.length > PASSWORD_MAX) throw wrongPassword();
      const known = accountEmail(email);
      const account = known === undefined ? undefined : await accounts.find(known);
      const isRight = await fits(account?.id, password, visitor);
      if (account === undefined || !isRight) throw wrongPassword();
      if (account.isDisabled) throw accountDisabled();
      const started = await logins.start(account, visitor);
      const { clientAddress } = visitor;
      const who = { actorId: account.id, accountId: account.id, clientAddress };
      await audit({ action: "session.started", ...who });
      return started;
    },
  };
}

async function countAttempt(
  { clientAddress }: Visitor,
  { rates, clock }: Pick<SignInDeps, "rates" | "clock">,
): Promise<void> {
  const owner = `sign-in:${bucketOf(clientAddress).bucket}`;
  const taking = await rates.take(owner, ATTEMPTS_PER_MINUTE, clock.monotonicMs());
  if (!taking.isGranted) throw tooManyAttempts(taking.closesInMs);
}

import { createHash } from "node:crypto";
import type { Guesses, GuessTaking } from "../guesses.ts";
import type { Log } from "../../base/log.ts";
import type { Accounts } from "../accounts-store.ts";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import type { Passwords } from "./passwords.ts";
import { accountEmail, PASSWORD_MAX } from "../accounts.ts";
import { bucketKey, bucketOf } from "../admission/caller.ts";
import {
  accountDisabled,
  secondFactorNeeded,
  tooManyAttempts,
  wrongPassword,
  wrongSecondFactor,
} from "../../base/refusals.ts";
import { type Audit, VISITOR } from "../audit.ts";
import type { SecondFactors } from "./second-factor.ts";
import type { SignInService, Visitor } from "./sign-ins.ts";
import type { RateCounter } from "../admission/counters.ts";

/** Counts of addresses without an account share so many keys: who invents addresses does not fill the store. */
const UNKNOWN_KEY_CHARACTERS = 5;

export type SignInOutcome = "right" | "wrong" | "delayed";

interface SignInDeps {
  readonly accounts: Pick<Accounts, "find" | "passwordHash">;
  readonly passwords: Passwords;
  readonly rates: RateCounter;
  readonly guesses: Guesses;
  readonly factors: Pick<SecondFactors, "accepts">;
  readonly logins: Pick<SignInService, "start">;
  readonly audit: Audit;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly log: Pick<Log, "warn">;
  readonly counted: (outcome: SignInOutcome) => void;
}

export interface PasswordSignIn {
  readonly email: string;
  readonly password: string;
  readonly code?: string | undefined;
}

interface Tried {
  readonly accountId: string | undefined;
  readonly key: string;
}

export function createSignIn(deps: SignInDeps) {
  const { accounts, passwords, guesses, factors, audit, clock, logins, counted } = deps;
  let dummyHash: Promise<string> | undefined;
  /** A hash to verify against for unknown addresses, so that they take the same time. */
  const dummy = (): Promise<string> =>
    (dummyHash ??= passwords.hash(Buffer.from(deps.ids.bytes(24)).toString("base64url")));

  const fits = async (
    { accountId, key }: Tried,
    password: string,
    visitor: Visitor,
    isCodeRight: () => Promise<boolean> = () => Promise.resolve(true),
  ): Promise<boolean> => {
    const taking = await guesses.take(key, clock.nowMs());
    if (!taking.isGranted) {
      counted("delayed");
      throw tooManyAttempts(taking.waitMs);
    }
    const known = accountId === undefined ? undefined : await accounts.passwordHash(accountId);
    const by = bucketKey(visitor.clientAddress);
    const isRight =
      password.length <= PASSWORD_MAX &&
      (await passwords.verify(known ?? (await dummy()), password, by)) &&
      known !== undefined &&
      (await isCodeRight());
    counted(isRight ? "right" : "wrong");
    if (isRight) await guesses.giveBack(key);
    else if (taking.waitMs > 0) await noteDelay({ accountId, key }, taking, visitor, deps);
    return isRight;
  };

  return {
    async isPassword(accountId: string, password: string, visitor: Visitor) {
      await countAttempt(visitor, deps);
      return fits(await triedOf(accountId, visitor, guesses), password, visitor);
    },
    /** Throws a `Refusal`, the same one for an unknown address and a wrong password. A wrong code counts as a wrong password. */
    async signIn({ email, password, code }: PasswordSignIn, visitor: Visitor) {
      await countAttempt(visitor, deps);
      const known = accountEmail(email);
      const account = known === undefined ? undefined : await accounts.find(known);
      const tried =
        account === undefined
          ? unknownOf(known ?? "")
          : await triedOf(account.id, visitor, guesses);
      let mistake = wrongPassword();
      const isCodeRight = async (): Promise<boolean> => {
        if (account?.secondFactor === undefined || code === undefined) return true;
        mistake = wrongSecondFactor();
        return await factors.accepts(account, code, visitor);
      };
      const isRight = await fits(tried, password, visitor, isCodeRight);
      if (account === undefined || !isRight) throw mistake;
      if (account.isDisabled) throw accountDisabled();
      if (account.secondFactor !== undefined && code === undefined) throw secondFactorNeeded();
      const started = await logins.start(account, visitor);
      const { clientAddress } = visitor;
      const who = { actorId: account.id, accountId: account.id, clientAddress };
      await audit({ action: "session.started", ...who });
      return started;
    },
  };
}

export type SignIn = ReturnType<typeof createSignIn>;

async function noteDelay(
  { accountId, key }: Tried,
  { tries, waitMs }: GuessTaking,
  { clientAddress }: Visitor,
  { log, audit }: Pick<SignInDeps, "log" | "audit">,
): Promise<void> {
  const delaySeconds = Math.ceil(waitMs / 1_000);
  log.warn("sign_in.delayed", { guessed: key, tries, delaySeconds });
  if (accountId === undefined) return;
  const detail = `${String(tries)} tries, the next in ${String(delaySeconds)} s`;
  await audit({ action: "session.delayed", actorId: VISITOR, accountId, clientAddress, detail });
}

/** Tries from where somebody signed in before count apart: whoever guesses elsewhere does not keep the owner out. */
async function triedOf(
  accountId: string,
  { clientAddress }: Visitor,
  guesses: Guesses,
): Promise<Tried> {
  const { bucket } = bucketOf(clientAddress);
  const places = await guesses.places(accountId);
  const isKnown = places.some((place) => bucketOf(place).bucket === bucket);
  return { accountId, key: isKnown ? `${accountId} ${bucket}` : accountId };
}

/** Delayed as an account is, so that a delay does not tell which addresses have one. */
function unknownOf(email: string): Tried {
  const hash = createHash("sha256").update(email).digest("hex");
  return { accountId: undefined, key: `unknown ${hash.slice(0, UNKNOWN_KEY_CHARACTERS)}` };
}

async function countAttempt(
  { clientAddress }: Visitor,
  { rates, clock }: Pick<SignInDeps, "rates" | "clock">,
): Promise<void> {
  const owner = `sign-in:${bucketOf(clientAddress).bucket}`;
  const taking = await rates.take(owner, 10, clock.monotonicMs());
  if (!taking.isGranted) throw tooManyAttempts(taking.closesInMs);
}

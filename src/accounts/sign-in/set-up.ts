import { createHash, timingSafeEqual } from "node:crypto";
import type { AccountDirectory } from "../account-directory.ts";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import { bucketKey } from "../admission/caller.ts";
import { badField, setUpLinkInvalid } from "../../base/refusals.ts";
import { type AccountService, accountEmail } from "../accounts.ts";
import type { Audit } from "../audit.ts";
import type { SignInService, StartedSession, Visitor } from "./sign-ins.ts";
import { checkPassword } from "./sign-up.ts";

interface SetUpDeps {
  readonly accounts: Pick<AccountService, "create">;
  readonly directory: Pick<AccountDirectory, "search">;
  readonly logins: Pick<SignInService, "start">;
  readonly audit: Audit;
  readonly ids: Pick<Ids, "bytes">;
  readonly clock: Pick<Clock, "nowMs">;
}

interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** The first administrator is made in the browser, by a link that the start prints. */
export interface SetUp {
  /** A new token for the link; undefined when there is an administrator already. */
  begin(): Promise<string | undefined>;
  /** Whether a link works now: for 30 minutes, or until there is an administrator, made here or elsewhere. */
  isOpen(): Promise<boolean>;
  /** Makes the administrator and signs them in. Throws a `Refusal` for a used, old or wrong link. */
  finish(token: string, who: Credentials, visitor: Visitor): Promise<StartedSession>;
}

export const SET_UP_LIFE_MS = 1_800_000;

const TOKEN_BYTES = 24;

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

export function createSetUp(deps: SetUpDeps): SetUp {
  const { accounts, directory, logins, audit, ids, clock } = deps;
  let wanted: { readonly hash: Buffer; readonly untilMs: number } | undefined;
  const hasAdmin = async (): Promise<boolean> =>
    (await directory.search({ state: "admin" }, 1)).total > 0;
  const isOpen = async (): Promise<boolean> => {
    if (wanted === undefined || clock.nowMs() >= wanted.untilMs) return false;
    if (await hasAdmin()) wanted = undefined;
    return wanted !== undefined;
  };
  const linkOf = async (token: string): Promise<NonNullable<typeof wanted>> => {
    const isKnown = wanted !== undefined;
    if (!(await isOpen())) {
      throw setUpLinkInvalid(isKnown && wanted !== undefined ? "old" : "used");
    }
    const known = wanted;
    if (known === undefined || !timingSafeEqual(digest(token), known.hash)) {
      throw setUpLinkInvalid("wrong");
    }
    return known;
  };
  return {
    isOpen,
    async begin() {
      if (await hasAdmin()) return undefined;
      const token = Buffer.from(ids.bytes(TOKEN_BYTES)).toString("base64url");
      wanted = { hash: digest(token), untilMs: clock.nowMs() + SET_UP_LIFE_MS };
      return token;
    },
    async finish(token, { email, password }, visitor) {
      const known = await linkOf(token);
      if (accountEmail(email) === undefined) throw badField("That is not a valid email address.");
      checkPassword(password, email);
      if (wanted !== known) throw setUpLinkInvalid("used");
      wanted = undefined; // A second request beside this one makes no second administrator.
      const by = bucketKey(visitor.clientAddress);
      const order = {
        email,
        password,
        tier: "pro",
        origin: "operator",
        isAdmin: true,
        by,
      } as const;
      const answer = await accounts.create(order);
      if (answer.kind !== "created") {
        wanted = known;
        throw badField(
          `The account ${email.trim()} exists already. Use another address, or make it an administrator: gatepost account promote ${email.trim()}`,
        );
      }
      const { account } = answer;
      await noteMade(account.id, visitor, audit);
      return logins.start(account, visitor);
    },
  };
}

const noteMade = (id: string, { clientAddress }: Visitor, audit: Audit): Promise<void> => {
  const detail = "pro, administrator, by the set-up link";
  return audit({ action: "account.created", actorId: id, accountId: id, clientAddress, detail });
};

import { createHash, timingSafeEqual } from "node:crypto";
import type { AccountDirectory } from "../../../ports/account/account-directory.ts";
import type { Clock } from "../../../ports/process/clock.ts";
import type { Ids } from "../../../ports/process/ids.ts";
import { bucketKey } from "../../admission/bucket.ts";
import { badField, setUpLinkInvalid } from "../../refusals.ts";
import { type AccountService, accountEmail } from "../accounts.ts";
import type { Audit } from "../audit.ts";
import type { SignInService, StartedSession, Visitor } from "./sign-ins.ts";
import { checkPassword } from "./sign-up.ts";

export interface SetUpDeps {
  readonly accounts: Pick<AccountService, "create">;
  readonly directory: Pick<AccountDirectory, "search">;
  readonly logins: Pick<SignInService, "start">;
  readonly audit: Audit;
  readonly ids: Pick<Ids, "bytes">;
  readonly clock: Pick<Clock, "nowMs">;
}

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** The first administrator is made in the browser, by a link that the start prints. */
export interface SetUp {
  /** A new token for the link; undefined when there is an account already. */
  begin(): Promise<string | undefined>;
  /** Whether a link works now. */
  isOpen(): boolean;
  /** Makes the administrator and signs them in. Throws a `Refusal` for a used, old or wrong link. */
  finish(token: string, who: Credentials, visitor: Visitor): Promise<StartedSession>;
}

/** How long a link works. */
export const SET_UP_LIFE_MS = 1_800_000;

const TOKEN_BYTES = 24;

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

export function createSetUp(deps: SetUpDeps): SetUp {
  const { accounts, directory, logins, audit, ids, clock } = deps;
  let wanted: { readonly hash: Buffer; readonly untilMs: number } | undefined;
  const isEmpty = async (): Promise<boolean> => (await directory.search({}, 1)).total === 0;
  const isOpen = (): boolean => wanted !== undefined && clock.nowMs() < wanted.untilMs;
  return {
    isOpen,
    async begin() {
      if (!(await isEmpty())) return undefined;
      const token = Buffer.from(ids.bytes(TOKEN_BYTES)).toString("base64url");
      wanted = { hash: digest(token), untilMs: clock.nowMs() + SET_UP_LIFE_MS };
      return token;
    },
    async finish(token, { email, password }, visitor) {
      const known = wanted;
      if (known === undefined || !isOpen() || !timingSafeEqual(digest(token), known.hash)) {
        throw setUpLinkInvalid();
      }
      if (accountEmail(email) === undefined) throw badField("That is not a valid email address.");
      checkPassword(password, email);
      wanted = undefined; // A second request beside this one makes no second administrator.
      if (!(await isEmpty())) throw setUpLinkInvalid();
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
        throw badField("That account could not be made.");
      }
      const { account } = answer;
      const detail = "pro, administrator, by the set-up link";
      const { clientAddress } = visitor;
      await audit({
        action: "account.created",
        actorId: account.id,
        accountId: account.id,
        clientAddress,
        detail,
      });
      return logins.start(account, visitor);
    },
  };
}

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

export const SET_UP_LIFE_MS = 1_800_000;

const TOKEN_BYTES = 24;

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

interface Link {
  readonly hash: Buffer;
  readonly untilMs: number;
}

/** The first administrator is made in the browser, by a link that the start prints. */
export class SetUp {
  readonly #deps: SetUpDeps;
  #wanted: Link | undefined;

  constructor(deps: SetUpDeps) {
    this.#deps = deps;
  }

  /** A new token for the link; undefined when there is an administrator already. */
  async begin(): Promise<string | undefined> {
    if (await this.#hasAdmin()) return undefined;
    const { ids, clock } = this.#deps;
    const token = Buffer.from(ids.bytes(TOKEN_BYTES)).toString("base64url");
    this.#wanted = { hash: digest(token), untilMs: clock.nowMs() + SET_UP_LIFE_MS };
    return token;
  }

  /** Whether a link works now: for 30 minutes, or until there is an administrator, made here or elsewhere. */
  async isOpen(): Promise<boolean> {
    if (this.#wanted === undefined) return false;
    if (this.#deps.clock.nowMs() >= this.#wanted.untilMs) return false;
    if (await this.#hasAdmin()) this.#wanted = undefined;
    return this.#wanted !== undefined;
  }

  /** Makes the administrator and signs them in. Throws a `Refusal` for a used, old or wrong link. */
  async finish(token: string, who: Credentials, visitor: Visitor): Promise<StartedSession> {
    const { accounts, logins, audit } = this.#deps;
    const { email, password } = who;
    const known = await this.#linkOf(token);
    if (accountEmail(email) === undefined) throw badField("That is not a valid email address.");
    checkPassword(password, email);
    if (this.#wanted !== known) throw setUpLinkInvalid("used");
    this.#wanted = undefined; // A second request beside this one makes no second administrator.
    const by = bucketKey(visitor.clientAddress);
    const made = { tier: "pro", origin: "operator", isAdmin: true, by } as const;
    const answer = await accounts.create({ email, password, ...made });
    if (answer.kind !== "created") {
      this.#wanted = known;
      throw badField(
        `The account ${email.trim()} exists already. Use another address, or make it an administrator: gatepost account promote ${email.trim()}`,
      );
    }
    await noteMade(answer.account.id, visitor, audit);
    return logins.start(answer.account, visitor);
  }

  async #hasAdmin(): Promise<boolean> {
    return (await this.#deps.directory.search({ state: "admin" }, 1)).total > 0;
  }

  async #linkOf(token: string): Promise<Link> {
    const isKnown = this.#wanted !== undefined;
    const isOpen = await this.isOpen();
    const known = this.#wanted;
    if (!isOpen) throw setUpLinkInvalid(isKnown && known !== undefined ? "old" : "used");
    if (known === undefined || !timingSafeEqual(digest(token), known.hash)) {
      throw setUpLinkInvalid("wrong");
    }
    return known;
  }
}

const noteMade = (id: string, { clientAddress }: Visitor, audit: Audit): Promise<void> => {
  const detail = "pro, administrator, by the set-up link";
  return audit({ action: "account.created", actorId: id, accountId: id, clientAddress, detail });
};

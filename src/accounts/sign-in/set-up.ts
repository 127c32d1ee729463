import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import { deriveKey, sameText } from "../../base/secrets.ts";
import { storeDownOf } from "../../base/store-down.ts";
import { agreeFact, dropFact, readFact } from "../../store/installation.ts";
import type { Db } from "../../store/schema.ts";
import { bucketKey } from "../admission/caller.ts";
import { badField, setUpLinkInvalid } from "../../base/refusals.ts";
import { type AccountService, checkAccount } from "../accounts.ts";
import type { Audit } from "../audit.ts";
import type { SignInService, StartedSession, Visitor } from "./sign-ins.ts";

interface SetUpDeps {
  readonly db: Db;
  readonly secretKey: Uint8Array;
  readonly accounts: Pick<AccountService, "create" | "search">;
  readonly logins: Pick<SignInService, "start">;
  readonly audit: Audit;
  readonly ids: Pick<Ids, "hex32">;
  readonly clock: Pick<Clock, "nowMs">;
}

interface NewAdministrator {
  readonly email: string;
  readonly password: string;
}

export const SET_UP_LIFE_MS = 1_800_000;

interface SetUpLink {
  readonly fact: string;
  readonly untilMs: number;
}

/** The first administrator is made in the browser, by a link that every server of the installation prints at its start. */
export class SetUp {
  readonly #deps: SetUpDeps;

  constructor(deps: SetUpDeps) {
    this.#deps = deps;
  }

  async begin(): Promise<string | undefined> {
    const { db, ids, clock } = this.#deps;
    try {
      if (await this.#hasAdmin()) return undefined;
      const nowMs = clock.nowMs();
      const known = await this.#link();
      if (known !== undefined && known.untilMs - nowMs < SET_UP_LIFE_MS / 2) {
        await dropFact(db, "set_up", known.fact);
      }
      const fact = `${String(nowMs + SET_UP_LIFE_MS)} ${ids.hex32()}`;
      return this.#tokenOf(await agreeFact(db, "set_up", fact));
    } catch (fault) {
      if (storeDownOf(fault) === undefined) throw fault;
      return undefined; // a database that is read-only for now does not prevent the start
    }
  }

  async isOpen(): Promise<boolean> {
    const link = await this.#link();
    if (link === undefined || this.#deps.clock.nowMs() >= link.untilMs) return false;
    return !(await this.#hasAdmin());
  }

  /** Makes the administrator and signs them in. Throws a `Refusal` for a used, old or wrong link. */
  async finish(token: string, who: NewAdministrator, visitor: Visitor): Promise<StartedSession> {
    const { db, accounts, logins, audit } = this.#deps;
    const { email, password } = who;
    const { fact } = await this.#linkOf(token);
    checkAccount(email, password);
    // A second request beside this one, here or at another server, makes no second administrator.
    if (!(await dropFact(db, "set_up", fact))) throw setUpLinkInvalid("used");
    const by = bucketKey(visitor.clientAddress);
    const made = { tier: "pro", origin: "operator", isAdmin: true, by } as const;
    const answer = await accounts.create({ email, password, ...made });
    if (answer.kind !== "created") {
      await agreeFact(db, "set_up", fact);
      throw badField(
        `The account ${email.trim()} exists already. Use another address, or make it an administrator: gatepost account promote ${email.trim()}`,
      );
    }
    const { id } = answer.account;
    const detail = "pro, administrator, by the set-up link";
    const { clientAddress } = visitor;
    await audit({ action: "account.created", actorId: id, accountId: id, clientAddress, detail });
    return logins.start(answer.account, visitor);
  }

  async #hasAdmin(): Promise<boolean> {
    return (await this.#deps.accounts.search({ state: "admin" }, 1)).total > 0;
  }

  async #link(): Promise<SetUpLink | undefined> {
    const fact = await readFact(this.#deps.db, "set_up");
    return fact === undefined ? undefined : { fact, untilMs: Number(fact.split(" ")[0]) };
  }

  /** The same at every server, so that the database need not hold it. */
  #tokenOf(fact: string): string {
    const key = deriveKey(this.#deps.secretKey, `set-up link ${fact}`);
    return Buffer.from(key.subarray(0, 24)).toString("base64url");
  }

  async #linkOf(token: string): Promise<SetUpLink> {
    const link = await this.#link();
    if (link === undefined || (await this.#hasAdmin())) throw setUpLinkInvalid("used");
    if (this.#deps.clock.nowMs() >= link.untilMs) throw setUpLinkInvalid("old");
    if (sameText(token, this.#tokenOf(link.fact))) return link;
    throw setUpLinkInvalid("wrong");
  }
}

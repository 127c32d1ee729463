import { createHash } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import { Refusal } from "../base/refusals.ts";
import type { SecretBox } from "../base/secrets.ts";
import type { Account, Accounts } from "./accounts-store.ts";
import { type AccountService, endedWords } from "./accounts.ts";
import { type Audit, VISITOR } from "./audit.ts";
import type { Visitor } from "./sign-in/sign-ins.ts";

const ABOUT = "link for a new password";

export interface ResetLinkDeps {
  readonly stored: Pick<Accounts, "passwordHash">;
  readonly accounts: Pick<AccountService, "find" | "setPassword" | "takeOver">;
  readonly box: SecretBox;
  readonly audit: Audit;
  readonly clock: Pick<Clock, "nowMs">;
}

const invalid = (): Refusal =>
  new Refusal(
    "reset_link_invalid",
    403,
    "This link does not work: it was used, is older than a day, or is incomplete. Ask the operator for a new one.",
  );

/**
 * One-time links with which an account's owner chooses a new password. An operator makes and sends them. The token names
 * the password that it replaces: once that is another one, the link is used. Nothing is stored.
 */
export class ResetLinks {
  readonly #deps: ResetLinkDeps;

  constructor(deps: ResetLinkDeps) {
    this.#deps = deps;
  }

  async make({ id }: Account): Promise<{ readonly token: string; readonly expiresAtMs: number }> {
    const { box, clock } = this.#deps;
    const expiresAtMs = clock.nowMs() + 86_400_000;
    const token = box.seal(JSON.stringify([id, expiresAtMs, await this.#passwordOf(id)]), ABOUT);
    return { token, expiresAtMs };
  }

  /**
   * Sets the password, which ends every session. The link was sent to the address, so an account of a sign-up is taken over by
   * it. Throws a `Refusal` for a used, old or wrong link.
   */
  async use(token: string, password: string, { clientAddress }: Visitor): Promise<void> {
    const { accounts, audit } = this.#deps;
    const account = await this.#accountOf(token);
    if (account === undefined) throw invalid();
    const who = { actorId: VISITOR, accountId: account.id, clientAddress };
    const ended = await accounts.takeOver(account, password);
    if (ended === undefined) {
      if (!(await accounts.setPassword(account.id, password))) throw invalid();
    } else await audit({ action: "account.access_ended", ...who, detail: endedWords(ended) });
    await audit({ action: "account.password", ...who, detail: "by a link of the operator" });
  }

  async #passwordOf(id: string): Promise<string> {
    const hash = (await this.#deps.stored.passwordHash(id)) ?? "";
    return createHash("sha256").update(hash).digest("base64url");
  }

  async #accountOf(token: string): Promise<Account | undefined> {
    const { accounts, box, clock } = this.#deps;
    const opened = box.open(token, ABOUT);
    if (opened === undefined) return undefined;
    const [id, expiresAtMs, password] = JSON.parse(opened) as readonly [string, number, string];
    const isOld = clock.nowMs() >= expiresAtMs;
    return isOld || (await this.#passwordOf(id)) !== password ? undefined : accounts.find(id);
  }
}

import { createHash } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import { badField, Refusal } from "../base/refusals.ts";
import type { SecretBox } from "../base/secrets.ts";
import type { Account, Accounts } from "./accounts-store.ts";
import type { AccountService } from "./accounts.ts";
import { type Audit, VISITOR } from "./audit.ts";
import type { Visitor } from "./sign-in/sign-ins.ts";

const LIFE_MS = 86_400_000;

const ABOUT = "link for a new password";

/** One-time links with which an account's owner chooses a new password. An operator makes and sends them. */
export interface ResetLinks {
  make(account: Account): Promise<{ readonly token: string; readonly expiresAtMs: number }>;
  /** Sets the password, which ends every session. Throws a `Refusal` for a used, old or wrong link. */
  use(token: string, password: string, visitor: Visitor): Promise<void>;
}

export interface ResetLinkDeps {
  readonly stored: Pick<Accounts, "passwordHash">;
  readonly accounts: Pick<AccountService, "find" | "setPassword">;
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

/** The token names the password that it replaces: once that is another one, the link is used. Nothing is stored. */
export function createResetLinks(deps: ResetLinkDeps): ResetLinks {
  const { stored, accounts, box, audit, clock } = deps;
  const passwordOf = async (id: string): Promise<string> =>
    createHash("sha256")
      .update((await stored.passwordHash(id)) ?? "")
      .digest("base64url");
  const accountOf = async (token: string): Promise<Account | undefined> => {
    const opened = box.open(token, ABOUT);
    if (opened === undefined) return undefined;
    const [id, expiresAtMs, password] = JSON.parse(opened) as readonly [string, number, string];
    if (clock.nowMs() >= expiresAtMs || (await passwordOf(id)) !== password) return undefined;
    return accounts.find(id);
  };
  return {
    async make({ id }) {
      const expiresAtMs = clock.nowMs() + LIFE_MS;
      const token = box.seal(JSON.stringify([id, expiresAtMs, await passwordOf(id)]), ABOUT);
      return { token, expiresAtMs };
    },
    async use(token, password, { clientAddress }) {
      const account = await accountOf(token);
      if (account === undefined) throw invalid();
      const answer = await accounts.setPassword(account.id, password);
      if (typeof answer === "object") throw badField(answer.mistake);
      if (answer !== "changed") throw invalid();
      const who = { actorId: VISITOR, accountId: account.id, clientAddress };
      await audit({ action: "account.password", ...who, detail: "by a link of the operator" });
    },
  };
}

import { isoDate, dayOf } from "../core/calendar.ts";
import type { FeedRefresh } from "../lists/feed-status.ts";
import type { Rule } from "../lists/rules/entry-json.ts";
import type { AccountService } from "../accounts/accounts.ts";
import type { CreditService } from "../accounts/credits.ts";
import type { KeyService } from "../accounts/keys.ts";
import type { PolicyService, SavedPolicy } from "./policies.ts";
import type { Tokens } from "./tokens.ts";
import type { RuleService } from "../lists/rules/rules.ts";
import type { AccountSwitches, SwitchAccount } from "./account-switches.ts";
import type { WebhookSetup } from "../webhooks/configure.ts";
import { type Audit, type Change, SERVICE } from "../accounts/audit.ts";

/** The same services, which write down each change that they made. A refusal is not a change. */

/** Writes down one change, by whom and from where being settled. */
export type Note = (change: Pick<Change, "action" | "accountId" | "detail">) => Promise<void>;

/** Everything noted was done by `doer`. */
export const noteBy =
  (audit: Audit, doer: Pick<Change, "actorId" | "clientAddress">): Note =>
  (change) =>
    audit({ ...change, ...doer });

export function auditedAccounts(accounts: AccountService, note: Note): AccountService {
  return {
    ...accounts,
    async create(order) {
      const answer = await accounts.create(order);
      if (answer.kind !== "created") return answer;
      const detail = `${answer.account.tier}${order.isAdmin ? ", administrator" : ""}`;
      await note({ action: "account.created", accountId: answer.account.id, detail });
      return answer;
    },
    async setTier(id, tier) {
      const before = await accounts.find(id);
      if (before === undefined || !(await accounts.setTier(id, tier))) return false;
      await note({ action: "account.tier", accountId: id, detail: `${before.tier} to ${tier}` });
      return true;
    },
    async disable(id) {
      const isDone = await accounts.disable(id);
      if (isDone) await note({ action: "account.disabled", accountId: id });
      return isDone;
    },
    async enable(id) {
      const isDone = await accounts.enable(id);
      if (isDone) await note({ action: "account.enabled", accountId: id });
      return isDone;
    },
    async promote(id) {
      const isDone = await accounts.promote(id);
      if (isDone) await note({ action: "account.promoted", accountId: id });
      return isDone;
    },
    async demote(id) {
      const isDone = await accounts.demote(id);
      if (isDone) await note({ action: "account.demoted", accountId: id });
      return isDone;
    },
    async setEmail(id, email) {
      const answer = await accounts.setEmail(id, email);
      if (answer === "changed") await note({ action: "account.email", accountId: id });
      return answer;
    },
    async setPassword(id, password) {
      const answer = await accounts.setPassword(id, password);
      if (answer === "changed") await note({ action: "account.password", accountId: id });
      return answer;
    },
  };
}

export function auditedSwitches(switches: AccountSwitches, note: Note): AccountSwitches {
  const noted =
    (action: "account.traffic" | "account.log", change: SwitchAccount): SwitchAccount =>
    async (accountId, state) => {
      const isThere = await change(accountId, state);
      if (isThere) await note({ action, accountId, detail: state });
      return isThere;
    };
  return {
    switchTraffic: noted("account.traffic", switches.switchTraffic),
    switchLog: noted("account.log", switches.switchLog),
  };
}

export const auditedTokens = (
  tokens: Pick<Tokens, "renewSecret">,
  note: Note,
): Pick<Tokens, "renewSecret"> => ({
  async renewSecret(accountId: string): Promise<string> {
    const secret = await tokens.renewSecret(accountId);
    await note({ action: "account.token_secret", accountId });
    return secret;
  },
});

export function auditedKeys(keys: KeyService, note: Note): KeyService {
  return {
    ...keys,
    async create(accountId, name, page) {
      const answer = await keys.create(accountId, name, page);
      if (answer.kind === "created") {
        await note({ action: "key.created", accountId, detail: answer.key.name });
      }
      return answer;
    },
    async setOrigins(keyId, origins) {
      const mistake = await keys.setOrigins(keyId, origins);
      const key = mistake === undefined ? await keys.find(keyId) : undefined;
      if (key !== undefined) {
        await note({ action: "key.origins", accountId: key.accountId, detail: key.name });
      }
      return mistake;
    },
    async rename(keyId, name) {
      const isDone = await keys.rename(keyId, name);
      const key = isDone ? await keys.find(keyId) : undefined;
      if (key !== undefined) {
        await note({ action: "key.renamed", accountId: key.accountId, detail: key.name });
      }
      return isDone;
    },
    async revoke(keyId) {
      const key = await keys.find(keyId);
      if (key === undefined || !(await keys.revoke(keyId))) return false;
      const { accountId, name: detail } = key;
      if (key.revokedAtMs === undefined) await note({ action: "key.revoked", accountId, detail });
      return true;
    },
  };
}

export function auditedCredits(credits: CreditService, note: Note): CreditService {
  return {
    ...credits,
    async grant(accountId, amount, reason) {
      const answer = await credits.grant(accountId, amount, reason);
      if (answer.kind !== "granted") return answer;
      const detail = `${String(amount)}${reason === "" ? "" : `, ${reason}`}`;
      await note({ action: "credits.granted", accountId, detail });
      return answer;
    },
  };
}

export function auditedPolicies(policies: PolicyService, note: Note): PolicyService {
  const noted = async (accountId: string, what: string, saving: Promise<SavedPolicy>) => {
    const saved = await saving;
    const detail = `${saved.name} ${String(saved.version)} ${what}`;
    await note({ action: "policy.changed", accountId, detail });
    return saved;
  };
  const ended = async (accountId: string, detail: string, ending: Promise<void>) => {
    await ending;
    await note({ action: "policy.changed", accountId, detail });
  };
  return {
    ...policies,
    save: (by, name, document, as) =>
      noted(by.account.id, as, policies.save(by, name, document, as)),
    setShadow: (accountId, name, version) =>
      noted(accountId, "shadow", policies.setShadow(accountId, name, version)),
    promote: (accountId, name) => noted(accountId, "live", policies.promote(accountId, name)),
    endShadow: (accountId, name) =>
      ended(accountId, `${name} without shadow`, policies.endShadow(accountId, name)),
    remove: (accountId, name) =>
      ended(accountId, `${name} removed`, policies.remove(accountId, name)),
  };
}

export function auditedWebhooks(setup: WebhookSetup, note: Note): WebhookSetup {
  return {
    ...setup,
    async set(accountId, url, events) {
      const saved = await setup.set(accountId, url, events);
      await note({ action: "webhook.saved", accountId, detail: new URL(saved.url).host });
      return saved;
    },
    async selectEvents(accountId, events) {
      const saved = await setup.selectEvents(accountId, events);
      await note({ action: "webhook.saved", accountId, detail: "events" });
      return saved;
    },
    async renewSecret(accountId) {
      const renewed = await setup.renewSecret(accountId);
      await note({ action: "webhook.secret", accountId });
      return renewed;
    },
    async remove(accountId) {
      const isRemoved = await setup.remove(accountId);
      if (isRemoved) await note({ action: "webhook.removed", accountId });
      return isRemoved;
    },
  };
}

/** Addresses are noted as they are stored: by their keyed hash. */
export function auditedEntries(operator: RuleService, note: Note): RuleService {
  return {
    ...operator,
    async save(text, word, details) {
      const answer = await operator.save(text, word, details);
      if (answer.kind !== "saved") return answer;
      const detail = entryWords(answer.entry);
      await note({ action: "lists.entry_saved", accountId: SERVICE, detail });
      return answer;
    },
    async forget(text) {
      const forgotten = await operator.forget(text);
      if (forgotten === undefined || forgotten.count === 0) return forgotten;
      const detail = forgotten.subject;
      await note({ action: "lists.entry_forgotten", accountId: SERVICE, detail });
      return forgotten;
    },
    async importLines(text, word, details) {
      const answer = await operator.importLines(text, word, details);
      if (answer.kind !== "imported") return answer;
      const detail = `${String(answer.count)} ${answer.count === 1 ? "entry" : "entries"}`;
      await note({ action: "lists.imported", accountId: SERVICE, detail });
      return answer;
    },
  };
}

/** "deny a.example", and until when where it ends. */
function entryWords({ word, subject, expiresAtMs }: Rule): string {
  const lastDay = expiresAtMs === undefined ? undefined : isoDate(dayOf(expiresAtMs - 1));
  return `${word} ${subject}${lastDay === undefined ? "" : `, until ${lastDay}`}`;
}

export function auditedRefresh(lists: FeedRefresh, note: Note): FeedRefresh {
  return {
    status: () => lists.status(),
    async refresh(confirmed = []) {
      const outcomes = await lists.refresh(confirmed);
      const refused = outcomes.filter(({ kind }) => kind === "refused").length;
      const counts = `${String(outcomes.length)} asked, ${String(refused)} refused`;
      const detail = [counts, ...confirmed.map((id) => `${id} confirmed`)].join(", ");
      await note({ action: "lists.fetched", accountId: SERVICE, detail });
      return outcomes;
    },
  };
}

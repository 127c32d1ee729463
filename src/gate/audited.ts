import { isoDate, dayOf } from "../core/calendar.ts";
import { prunedWords } from "../core/policy/pruned-words.ts";
import type { FeedRefresh } from "../lists/feed-status.ts";
import type { Rule } from "../lists/rules/entry-json.ts";
import type { EndedAccess } from "../accounts/account-directory.ts";
import { limitsJson } from "../accounts/admission/tiers.ts";
import type { AccountService } from "../accounts/accounts.ts";
import type { Guesses } from "../accounts/guesses.ts";
import type { CreditService } from "../accounts/credits.ts";
import type { KeyService } from "../accounts/keys.ts";
import { type ForgetDeps, forgetPerson } from "./forget-person.ts";
import type { ForgetReport, SavedPolicy } from "./gate-shapes.ts";
import type { PolicyService } from "./policies.ts";
import type { Tokens } from "./tokens.ts";
import type { RuleService } from "../lists/rules/rules.ts";
import type { AccountSwitches } from "./account-switches.ts";
import type { WebhookSetup } from "../webhooks/configure.ts";
import { type Audit, type AuditedChange, SERVICE } from "../accounts/audit.ts";

/** The same services, which write down each change that they made. A refusal is not a change. */

type Noted = Pick<AuditedChange, "action" | "accountId" | "detail">;

/** Writes down one change, by whom and from where being settled. */
export type Note = (change: Noted) => Promise<void>;

export const noteBy =
  (audit: Audit, doer: Pick<AuditedChange, "actorId" | "clientAddress">): Note =>
  (change) =>
    audit({ ...change, ...doer });

/** What a service's methods changed, by their answer and arguments; undefined: nothing. */
type Changes<S> = {
  readonly [Name in keyof S]?: S[Name] extends (...args: infer Args) => Promise<infer Answer>
    ? (answer: Answer, ...args: Args) => Noted | undefined | Promise<Noted | undefined>
    : never;
};

type BoundMethod = (...args: unknown[]) => Promise<unknown>;

/** Copies the service's methods; those that `changes` names then note what they changed. */
function audited<S extends object>(service: S, note: Note, changes: Changes<S>): S {
  const methods = methodsOf(service);
  for (const [name, changeOf] of Object.entries<unknown>(changes)) {
    const method = methods.get(name) as BoundMethod;
    const read = changeOf as (...all: unknown[]) => Noted | undefined | Promise<Noted | undefined>;
    methods.set(name, async (...args) => {
      const answer = await method(...args);
      const change = await read(answer, ...args);
      if (change !== undefined) await note(change);
      return answer;
    });
  }
  return Object.fromEntries(methods) as S;
}

/** The methods of an object or of an instance, bound to it. */
function methodsOf(service: object): Map<string, BoundMethod> {
  const prototype = Object.getPrototypeOf(service) as object;
  const names = [service, prototype].flatMap((each) => Object.getOwnPropertyNames(each));
  return new Map(
    names.flatMap((name) => {
      const member: unknown = Reflect.get(service, name);
      return typeof member === "function" ? [[name, member.bind(service) as BoundMethod]] : [];
    }),
  );
}

const whenDone =
  (action: AuditedChange["action"]) =>
  (answer: unknown, accountId: string): Noted | undefined =>
    answer === true || answer === "changed" ? { action, accountId } : undefined;

export function auditedAccounts(accounts: AccountService, note: Note): AccountService {
  return {
    ...audited(accounts, note, {
      create(answer, { isAdmin }) {
        if (answer.kind !== "created") return undefined;
        const { id: accountId, tier } = answer.account;
        const detail = `${tier}${isAdmin ? ", administrator" : ""}`;
        return { action: "account.created", accountId, detail };
      },
      disable: whenDone("account.disabled"),
      enable: whenDone("account.enabled"),
      erase: whenDone("account.deleted"),
      setLimits: (isDone, accountId, limits) => {
        const numbers = Object.entries(limitsJson(limits)).map(
          ([name, n]) => `${name} ${n ?? "none"}`,
        );
        const detail = numbers.join(", ") || "those of the plan";
        return isDone ? { action: "account.limits", accountId, detail } : undefined;
      },
      demote: whenDone("account.demoted"),
      endSecondFactor: (isDone, accountId) =>
        isDone ? { action: "account.second_factor", accountId, detail: "off" } : undefined,
      setEmail: (answer, accountId) =>
        answer === "changed" ? { action: "account.email", accountId } : undefined,
      setPassword: whenDone("account.password"),
    }),
    async promote(id, given) {
      const answer = await accounts.promote(id, given);
      const { takenOver } = answer ?? {};
      if (takenOver !== undefined) {
        await note({ action: "account.password", accountId: id });
        await note({
          action: "account.access_ended",
          accountId: id,
          detail: endedWords(takenOver),
        });
      }
      if (answer !== undefined) await note({ action: "account.promoted", accountId: id });
      return answer;
    },
    async setTier(id, tier) {
      const before = await accounts.find(id);
      if (before === undefined || !(await accounts.setTier(id, tier))) return false;
      await note({ action: "account.tier", accountId: id, detail: `${before.tier} to ${tier}` });
      return true;
    },
  };
}

export const auditedUnlock =
  (guesses: Pick<Guesses, "forget">, note: Note) =>
  async (accountId: string): Promise<boolean> => {
    const isDelayed = await guesses.forget(accountId);
    if (isDelayed) await note({ action: "account.lockout_ended", accountId });
    return isDelayed;
  };

/** Whose data it was is not written down. */
export const auditedForget =
  (deps: ForgetDeps, note: Note) =>
  async (address: string, isLook: boolean): Promise<ForgetReport> => {
    const report = await forgetPerson(deps, address, isLook);
    const counts = Object.entries(report.found).map(([name, n]) => `${name} ${String(n)}`);
    const change = {
      action: "person.forgotten",
      accountId: SERVICE,
      detail: counts.join(", "),
    } as const;
    if (!isLook) await note(change);
    return report;
  };

/** "2 keys, 1 hook, 1 webhook" */
export const endedWords = ({ keys, hooks, webhooks }: EndedAccess): string =>
  [
    [keys, "key"],
    [hooks, "hook"],
    [webhooks, "webhook"],
  ]
    .map(([count = 0, word = ""]) => `${String(count)} ${String(word)}${count === 1 ? "" : "s"}`)
    .join(", ");

export function auditedSwitches(switches: AccountSwitches, note: Note): AccountSwitches {
  const noted =
    (action: "account.traffic" | "account.log") =>
    (isThere: boolean, accountId: string, detail: string): Noted | undefined =>
      isThere ? { action, accountId, detail } : undefined;
  return audited(switches, note, {
    switchTraffic: noted("account.traffic"),
    switchLog: noted("account.log"),
  });
}

export const auditedTokens = (
  tokens: Pick<Tokens, "renewSecret">,
  note: Note,
): Pick<Tokens, "renewSecret"> =>
  audited(tokens, note, {
    renewSecret: (_, accountId) => ({ action: "account.token_secret", accountId }),
  });

export function auditedKeys(keys: KeyService, note: Note): KeyService {
  const ofKey = async (action: AuditedChange["action"], id: string): Promise<Noted | undefined> => {
    const key = await keys.find(id);
    return key && { action, accountId: key.accountId, detail: key.name };
  };
  return {
    ...audited(keys, note, {
      create: (answer, accountId) =>
        answer.kind === "created"
          ? { action: "key.created", accountId, detail: answer.key.name }
          : undefined,
      setOrigins: (mistake, id) => (mistake === undefined ? ofKey("key.origins", id) : undefined),
      rename: (isDone, id) => (isDone ? ofKey("key.renamed", id) : undefined),
    }),
    async revoke(keyId) {
      const key = await keys.find(keyId);
      if (key === undefined || !(await keys.revoke(keyId))) return false;
      const { accountId, name: detail } = key;
      if (key.revokedAtMs === undefined) await note({ action: "key.revoked", accountId, detail });
      return true;
    },
  };
}

export const auditedCredits = (credits: CreditService, note: Note): CreditService =>
  audited(credits, note, {
    grant(answer, accountId, amount, reason) {
      const detail = `${String(amount)}${reason === "" ? "" : `, ${reason}`}`;
      return answer.kind === "granted"
        ? { action: "credits.granted", accountId, detail }
        : undefined;
    },
  });

export function auditedPolicies(policies: PolicyService, note: Note): PolicyService {
  const changed = (accountId: string, detail: string): Noted => ({
    action: "policy.changed",
    accountId,
    detail,
  });
  const saved = (accountId: string, policy: SavedPolicy, what: string): Noted => {
    const { name, version } = policy;
    return changed(accountId, `${name} ${String(version)} ${what}${prunedWords(policy, ", ")}`);
  };
  return audited(policies, note, {
    save: (policy, by, _name, _document, as) => saved(by.account.id, policy, as),
    setShadow: (policy, accountId) => saved(accountId, policy, "shadow"),
    promote: (policy, accountId) => saved(accountId, policy, "live"),
    endShadow: (_, accountId, name) => changed(accountId, `${name} without shadow`),
    remove: (_, accountId, name) => changed(accountId, `${name} removed`),
  });
}

export const auditedWebhooks = (setup: WebhookSetup, note: Note): WebhookSetup =>
  audited(setup, note, {
    set: ({ url }, accountId) => ({
      action: "webhook.saved",
      accountId,
      detail: new URL(url).host,
    }),
    selectEvents: (_, accountId) => ({ action: "webhook.saved", accountId, detail: "events" }),
    renewSecret: (_, accountId) => ({ action: "webhook.secret", accountId }),
    remove: whenDone("webhook.removed"),
  });

/** Addresses are noted as they are stored: by their keyed hash. */
export function auditedEntries(operator: RuleService, note: Note): RuleService {
  const changed = (action: AuditedChange["action"], detail: string): Noted => ({
    action,
    accountId: SERVICE,
    detail,
  });
  return audited(operator, note, {
    save: (answer) =>
      answer.kind === "saved" ? changed("lists.entry_saved", entryWords(answer.entry)) : undefined,
    forget: (forgotten) =>
      forgotten === undefined || forgotten.count === 0
        ? undefined
        : changed("lists.entry_forgotten", forgotten.subject),
    importLines(answer) {
      if (answer.kind !== "imported") return undefined;
      const { count } = answer;
      return changed("lists.imported", `${String(count)} ${count === 1 ? "entry" : "entries"}`);
    },
  });
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

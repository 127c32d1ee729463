import { dayOf, isoDate, isoTime } from "../core/calendar.ts";
import { BUILT_IN_DOCUMENTS, DEFAULT_VERSION } from "../core/policy/default-policy.ts";
import { parsePolicy, POLICY_MAX_BYTES, working } from "../core/policy/parse-policy.ts";
import { prunedWords } from "../core/policy/pruned-words.ts";
import { isReservedName } from "../core/reserved-name.ts";
import type { Note } from "../accounts/audit.ts";
import type { Account } from "../accounts/accounts-store.ts";
import type { Clock } from "../base/clock.ts";
import type { Notices } from "../store/notices.ts";
import type { ShadowCountRow } from "../store/tables/policy.ts";
import type { Outcomes } from "./outcomes.ts";
import type { PolicyHead, PolicyLimits, PolicyStore, PolicyVersion } from "./policy-store.ts";
import { tierOf, type Tiers } from "../accounts/admission/tiers.ts";
import { badField, badPolicy, noSuchPolicy, notNow } from "../base/refusals.ts";
import type {
  Pair,
  PolicyPage,
  PolicyJson,
  RuleCounts,
  SavedPolicy,
  ShadowReport,
} from "./gate-shapes.ts";
import { isPolicyName } from "./in-force.ts";

/** 50 policies of 64 KB, each live and in shadow, fit in the octets. */
const POLICY_LIMITS: PolicyLimits = {
  policiesMax: 50,
  versionsMax: 500,
  allVersionsMax: 5_000,
  octetsMax: 2 * 50 * POLICY_MAX_BYTES,
};

const VERSIONS_SHOWN = 100;

export const SHADOW_DAYS = 90;

export interface Author {
  readonly account: Pick<Account, "id" | "tier" | "origin" | "createdAtMs">;
  readonly author: string;
}

export interface PolicyServiceDeps {
  readonly note?: Note;
  readonly store: PolicyStore;
  readonly outcomes: Pick<Outcomes, "shadowPairs" | "shadowDomains" | "rulesOf">;
  readonly tiers: Tiers;
  readonly clock: Pick<Clock, "nowMs">;
  readonly notices: Pick<Notices, "tell">;
}

const BUILT_IN_HEADS: readonly PolicyHead[] = [...BUILT_IN_DOCUMENTS.keys()].map((name) => ({
  name,
  live: DEFAULT_VERSION,
}));

/** What an account does with its policies. Throws a `Refusal` that names the mistake. */
export class PolicyService {
  readonly #deps: PolicyServiceDeps;
  readonly #store: PolicyStore;

  constructor(deps: PolicyServiceDeps) {
    this.#deps = deps;
    this.#store = deps.store;
  }

  /** The same service, which notes its changes. */
  by(note: Note): PolicyService {
    return new PolicyService({ ...this.#deps, note });
  }

  async list(accountId: string): Promise<readonly PolicyJson[]> {
    const rows: PolicyJson[] = [];
    for (const head of await this.#heads(accountId)) rows.push(await this.#row(accountId, head));
    return rows;
  }

  async show(accountId: string, name: string, asked?: number): Promise<PolicyPage> {
    const head = await this.#head(accountId, name);
    const { live = DEFAULT_VERSION, shadow } = head;
    const version = asked ?? live;
    const saved = await this.#store.version(accountId, name, version);
    if (saved === undefined && !isBuiltIn(name, version)) throw noSuchPolicy();
    const state = (number: number): PolicyPage["versions"][number]["state"] =>
      number === live ? "live" : number === shadow ? "shadow" : "old";
    const rows = (await this.#store.versions(accountId, name, VERSIONS_SHOWN)).map((one) => ({
      version: one.version,
      state: state(one.version),
      ...authorOf(one),
    }));
    const first = {
      version: DEFAULT_VERSION,
      state: state(DEFAULT_VERSION),
      ...authorOf(undefined),
    };
    const document = saved ? (JSON.parse(saved.document) as unknown) : BUILT_IN_DOCUMENTS.get(name);
    const read = parsePolicy(document, { hasDomainAge: true });
    return {
      ...(await this.#row(accountId, head)),
      version,
      document,
      rule_reasons: (working(read)?.rules ?? []).map(({ reason }) => reason),
      ...(!read.ok && { mistakes: read.mistakes }),
      versions: BUILT_IN_DOCUMENTS.has(name) ? [...rows, first] : rows,
    };
  }

  async save(
    { account, author }: Author,
    name: string,
    document: unknown,
    as: "live" | "shadow",
  ): Promise<SavedPolicy> {
    checkName(name);
    if (as === "shadow") await this.#head(account.id, name);
    const saved = await this.#store.save(
      {
        accountId: account.id,
        name,
        document: checkedDocument(document, account, this.#deps),
        author,
        createdAtMs: this.#deps.clock.nowMs(),
        as,
        firstVersion: BUILT_IN_DOCUMENTS.has(name) ? DEFAULT_VERSION + 1 : 1,
      },
      POLICY_LIMITS,
    );
    if (saved === undefined) throw tooMany();
    const { version, pruned } = saved;
    const policy = { name, version, ...(pruned > 0 && { pruned }) };
    await this.#changed(account.id, `${name} ${String(version)} ${as}${prunedWords(policy, ", ")}`);
    return policy;
  }

  async setShadow(accountId: string, name: string, version: number): Promise<SavedPolicy> {
    await this.#head(accountId, name);
    if (!(await this.#store.setShadow(accountId, name, version))) throw noSuchPolicy();
    await this.#changed(accountId, `${name} ${String(version)} shadow`);
    return { name, version };
  }

  async endShadow(accountId: string, name: string): Promise<void> {
    await this.#head(accountId, name);
    await this.#store.setShadow(accountId, name, undefined);
    await this.#changed(accountId, `${name} without shadow`);
  }

  async promote(accountId: string, name: string): Promise<SavedPolicy> {
    await this.#head(accountId, name);
    const version = await this.#store.promote(accountId, name);
    if (version === undefined) throw notNow("No shadow runs beside this policy.");
    await this.#changed(accountId, `${name} ${String(version)} live`);
    return { name, version };
  }

  async remove(accountId: string, name: string): Promise<void> {
    const removal = await this.#store.remove(accountId, name);
    if (removal.kind === "unknown") throw noSuchPolicy();
    if (removal.kind === "in_use") throw policyInUse(name, removal.usedBy);
    await this.#changed(accountId, `${name} removed`);
  }

  /** How often each rule of each version decided, and of a shadow would have. */
  async ruleCounts(accountId: string, name: string, days: number): Promise<RuleCounts> {
    const { outcomes, clock } = this.#deps;
    const counts = await outcomes.rulesOf(accountId, name, dayOf(clock.nowMs()) - days + 1);
    return { counts: counts.map((one) => ({ ...one, rule: one.rule < 0 ? null : one.rule })) };
  }

  async shadowReport(accountId: string, name: string, days: number): Promise<ShadowReport> {
    const { outcomes, clock } = this.#deps;
    const { live = DEFAULT_VERSION, shadow } = await this.#head(accountId, name);
    const fromDay = dayOf(clock.nowMs()) - days + 1;
    const which = shadow && { account_id: accountId, policy: name, version: shadow };
    const counts = which ? await outcomes.shadowPairs(which, fromDay) : [];
    const domains = which ? await outcomes.shadowDomains(which, fromDay) : [];
    const pairs = summed(counts);
    const sum = (some: readonly Pair[]): number => some.reduce((all, { count }) => all + count, 0);
    return {
      live,
      shadow: shadow ?? null,
      days: [...new Set(counts.map(({ day }) => day))].map((day) => ({
        day: isoDate(day),
        pairs: summed(counts.filter((count) => count.day === day)),
      })),
      pairs,
      total: sum(pairs),
      changed: sum(pairs.filter((pair) => pair.live !== pair.shadow)),
      domains: domains.map((one) => ({
        day: isoDate(one.day),
        domain: one.domain,
        live: one.live,
        shadow: one.shadow,
        count: one.count,
      })),
    };
  }

  async #changed(accountId: string, detail: string): Promise<void> {
    const { notices, note } = this.#deps;
    notices.tell("policies");
    await note?.({ action: "policy.changed", accountId, detail });
  }

  /** `default` and `send` are always there: without a live version of the account's own the built-in one is live. */
  async #heads(accountId: string): Promise<readonly PolicyHead[]> {
    const heads = await this.#store.list(accountId);
    const own = BUILT_IN_HEADS.map((head) => ({
      ...head,
      ...heads.find(({ name }) => name === head.name),
    }));
    const others = heads.filter(
      ({ name, live }) => !BUILT_IN_DOCUMENTS.has(name) && live !== undefined,
    );
    return [...own, ...others];
  }

  async #head(accountId: string, name: string): Promise<PolicyHead> {
    const head = (await this.#heads(accountId)).find((one) => one.name === name);
    if (head === undefined) throw noSuchPolicy();
    return head;
  }

  async #row(
    accountId: string,
    { name, live = DEFAULT_VERSION, shadow }: PolicyHead,
  ): Promise<PolicyJson> {
    const saved = await this.#store.version(accountId, name, live);
    const built = saved === undefined && isBuiltIn(name, live);
    return { name, built_in: built, live, shadow: shadow ?? null, ...authorOf(saved) };
  }
}

const tooMany = (): Error =>
  notNow(`An account has at most ${String(POLICY_LIMITS.policiesMax)} policies. Remove one first.`);

const policyInUse = (name: string, usedBy: readonly string[]): Error =>
  notNow(`Policy "${name}" is used by ${usedBy.join(", ")}. Remove what uses it first.`);

function checkName(name: string): void {
  if (isReservedName(name)) throw badField(`The name ${name} is reserved. Choose another.`);
  if (isPolicyName(name)) return;
  throw badField("A policy's name has 1 to 32 characters: a to z, 0 to 9, _ and -.");
}

/** The text that is stored. Throws the `Refusal` that names every mistake with its path. */
function checkedDocument(
  document: unknown,
  account: Author["account"],
  { tiers, clock }: Pick<PolicyServiceDeps, "tiers" | "clock">,
): string {
  const text = JSON.stringify(document) ?? "";
  if (Buffer.byteLength(text) > POLICY_MAX_BYTES) {
    throw badPolicy([`policy: has more than ${String(POLICY_MAX_BYTES)} octets`]);
  }
  const { premium: hasDomainAge } = tiers[tierOf(account, clock.nowMs())];
  const read = parsePolicy(document, { hasDomainAge });
  if (!read.ok) throw badPolicy(read.mistakes);
  return text;
}

const isBuiltIn = (name: string, version: number): boolean =>
  BUILT_IN_DOCUMENTS.has(name) && version === DEFAULT_VERSION;

const authorOf = (saved: PolicyVersion | undefined) => ({
  author: saved?.author ?? null,
  created_at: saved === undefined ? null : isoTime(saved.createdAtMs),
});

function summed(counts: readonly ShadowCountRow[]): readonly Pair[] {
  const sums = new Map<string, Pair>();
  for (const { live, shadow, count } of counts) {
    const key = `${live} ${shadow}`;
    sums.set(key, { live, shadow, count: count + (sums.get(key)?.count ?? 0) });
  }
  return [...sums.values()].toSorted((a, b) => b.count - a.count);
}

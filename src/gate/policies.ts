import type { Account } from "../accounts/accounts-store.ts";
import { tierOf, type Tiers } from "../accounts/admission/tiers.ts";
import type { Note } from "../accounts/audit.ts";
import type { Clock } from "../base/clock.ts";
import { badField, badPolicy, noSuchPolicy, notNow } from "../base/refusals.ts";
import { dayOf, isoDate, isoTimeOrNull } from "../core/calendar.ts";
import { BUILT_IN_DOCUMENTS, DEFAULT_VERSION } from "../core/policy/default-policy.ts";
import {
  isPolicyName,
  parsePolicy,
  POLICY_MAX_BYTES,
  working,
} from "../core/policy/parse-policy.ts";
import { prunedWords } from "../core/policy/sentence.ts";
import { isReservedName } from "../core/reserved-name.ts";
import type { Notices } from "../store/notices.ts";
import type { PolicyVersionRow, ShadowCountRow } from "../store/tables/policy.ts";
import type { Pair, PolicyJson } from "./gate-shapes.ts";
import { Outcomes, summed } from "./outcomes.ts";
import { POLICY_LIMITS, PolicyStore, type Sql } from "./policy-store.ts";

const VERSIONS_SHOWN = 100;

export const SHADOW_DAYS = 90;

export interface Author {
  readonly account: Pick<Account, "id" | "tier" | "origin" | "createdAtMs">;
  readonly author: string;
}

export interface PolicyServiceDeps {
  readonly note?: Note;
  readonly db: Sql;
  readonly tiers: Tiers;
  readonly clock: Pick<Clock, "nowMs">;
  readonly notices: Pick<Notices, "tell">;
}

export class PolicyService {
  readonly #deps: PolicyServiceDeps;
  readonly #store: PolicyStore;
  readonly #outcomes: Outcomes;

  constructor(deps: PolicyServiceDeps) {
    this.#deps = deps;
    this.#store = new PolicyStore(deps.db);
    this.#outcomes = new Outcomes(deps.db);
  }

  by(note: Note): PolicyService {
    return new PolicyService({ ...this.#deps, note });
  }

  async list(accountId: string): Promise<readonly PolicyJson[]> {
    const rows: PolicyJson[] = [];
    for (const head of await this.#heads(accountId)) rows.push(await this.#row(accountId, head));
    return rows;
  }

  async show(accountId: string, name: string, asked?: number) {
    const head = await this.#head(accountId, name);
    const { live } = head;
    const version = asked ?? live;
    const saved = await this.#store.version(accountId, name, version);
    if (saved === undefined && !isBuiltIn(name, version)) throw noSuchPolicy();
    const document = saved ? (JSON.parse(saved.document) as unknown) : BUILT_IN_DOCUMENTS.get(name);
    const read = parsePolicy(document, { hasDomainAge: true });
    const known = await this.#store.versions(accountId, name, VERSIONS_SHOWN);
    const all = BUILT_IN_DOCUMENTS.has(name) ? [...known, BUILT_IN_VERSION] : known;
    return {
      ...(await this.#row(accountId, head)),
      version,
      document,
      rule_reasons: (working(read)?.rules ?? []).map(({ reason }) => reason),
      ...(!read.ok && { mistakes: read.mistakes }),
      versions: all.map((one) => ({
        version: one.version,
        state: stateOf(one.version, head),
        ...authorOf(one),
      })),
    };
  }

  async save({ account, author }: Author, name: string, document: unknown, as: "live" | "shadow") {
    checkName(name);
    if (as === "shadow") await this.#head(account.id, name);
    const made = {
      account_id: account.id,
      name,
      document: checkedDocument(document, account, this.#deps),
      author,
      created_at_ms: this.#deps.clock.nowMs(),
    };
    const saved = await this.#store.save(made, as);
    if (saved === undefined) throw tooMany();
    const { version, pruned } = saved;
    const policy = { name, version, ...(pruned > 0 && { pruned }) };
    await this.#changed(account.id, `${name} ${String(version)} ${as}${prunedWords(policy, ", ")}`);
    return policy;
  }

  async setShadow(accountId: string, name: string, version: number) {
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

  async promote(accountId: string, name: string) {
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

  async ruleCounts(accountId: string, name: string, days: number) {
    const fromDay = dayOf(this.#deps.clock.nowMs()) - days + 1;
    const counts = await this.#outcomes.rulesOf(accountId, name, fromDay);
    return { counts: counts.map((one) => ({ ...one, rule: one.rule < 0 ? null : one.rule })) };
  }

  async shadowReport(accountId: string, name: string, days: number) {
    const { live, shadow } = await this.#head(accountId, name);
    const fromDay = dayOf(this.#deps.clock.nowMs()) - days + 1;
    const which = shadow && { account_id: accountId, policy: name, version: shadow };
    const counts = which ? await this.#outcomes.shadowPairs(which, fromDay) : [];
    const domains = which ? await this.#outcomes.shadowDomains(which, fromDay) : [];
    const pairs = pairsOf(counts);
    const sum = (some: readonly Pair[]): number => some.reduce((all, { count }) => all + count, 0);
    return {
      live,
      shadow,
      days: [...new Set(counts.map(({ day }) => day))].map((day) => ({
        day: isoDate(day),
        pairs: pairsOf(counts.filter((count) => count.day === day)),
      })),
      pairs,
      total: sum(pairs),
      changed: sum(pairs.filter((pair) => pair.live !== pair.shadow)),
      domains: domains.map(({ day, domain, live, shadow, count }) => {
        return { day: isoDate(day), domain, live, shadow, count };
      }),
    };
  }

  async #changed(accountId: string, detail: string): Promise<void> {
    const { notices, note } = this.#deps;
    notices.tell("policies");
    await note?.({ action: "policy.changed", accountId, detail });
  }

  /** `default` and `send` are always there: without a live version of the account's own the built-in one is live. */
  async #heads(accountId: string): Promise<readonly PolicyHead[]> {
    const rows = await this.#store.list(accountId);
    const builtIn = [...BUILT_IN_DOCUMENTS.keys()].map((name): PolicyHead => {
      const { live_version, shadow_version = null } = rows.find((row) => row.name === name) ?? {};
      return { name, live: live_version ?? DEFAULT_VERSION, shadow: shadow_version };
    });
    const others = rows.flatMap(({ name, live_version: live, shadow_version: shadow }) =>
      live === null || BUILT_IN_DOCUMENTS.has(name) ? [] : { name, live, shadow },
    );
    return [...builtIn, ...others];
  }

  async #head(accountId: string, name: string): Promise<PolicyHead> {
    const head = (await this.#heads(accountId)).find((one) => one.name === name);
    if (head === undefined) throw noSuchPolicy();
    return head;
  }

  async #row(accountId: string, { name, live, shadow }: PolicyHead): Promise<PolicyJson> {
    const saved = await this.#store.version(accountId, name, live);
    const built_in = saved === undefined && isBuiltIn(name, live);
    return { name, built_in, live, shadow, ...authorOf(saved) };
  }
}

export type SavedPolicy = Awaited<ReturnType<PolicyService["save"]>>;

const stateOf = (version: number, { live, shadow }: PolicyHead) =>
  version === live ? "live" : version === shadow ? "shadow" : "old";

type PolicyHead = Pick<PolicyJson, "name" | "live" | "shadow">;

type Saved = Pick<PolicyVersionRow, "version"> & Partial<PolicyVersionRow>;

const BUILT_IN_VERSION: Saved = { version: DEFAULT_VERSION };

const tooMany = (): Error =>
  notNow(`An account has at most ${String(POLICY_LIMITS.policiesMax)} policies. Remove one first.`);

const policyInUse = (name: string, usedBy: readonly string[]): Error =>
  notNow(`Policy "${name}" is used by ${usedBy.join(", ")}. Remove what uses it first.`);

function checkName(name: string): void {
  if (isReservedName(name)) throw badField(`The name ${name} is reserved. Choose another.`);
  if (isPolicyName(name)) return;
  throw badField("A policy's name has 1 to 32 characters: a to z, 0 to 9, _ and -.");
}

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

const authorOf = (saved: Partial<Saved> | undefined) => ({
  author: saved?.author ?? null,
  created_at: isoTimeOrNull(saved?.created_at_ms),
});

const pairsOf = (counts: readonly ShadowCountRow[]): readonly Pair[] =>
  summed(
    counts.map(({ live, shadow, count }) => ({ live, shadow, count })),
    ({ live, shadow }) => `${live} ${shadow}`,
  );

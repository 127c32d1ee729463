import {
  HOOK_OUTCOMES,
  HOOK_SYSTEMS,
  type HookOutcome,
  type HookSystem,
} from "../core/policy/outcomes.ts";
import { dayOf, isoTime } from "../core/calendar.ts";
import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import type { PublicHostCheck } from "../outbound/dial.ts";
import type { SecretBox } from "../base/secrets.ts";
import { badField, notFound, notNow } from "../base/refusals.ts";
import { publicHttpsUrl } from "../webhooks/configure.ts";
import { standardKey } from "./hook-signatures.ts";
import { SYSTEMS } from "./hook-systems.ts";
import type { Db } from "../store/schema.ts";
import { addCounts } from "../store/upserts.ts";
import { changeRows, countRows, deleteRows, findRow, insertRow } from "../store/rows.ts";
import { lockAccount } from "../store/locks.ts";
import { pruneRows } from "../store/prune.ts";
import { inTransaction } from "../store/transaction.ts";
import type { HookCountRow, HookRow } from "../store/tables/policy.ts";
import { isLivePolicy, lockPolicies } from "../store/live-policy.ts";

export interface HookCall {
  readonly atMs: number;
  readonly outcome: HookOutcome;
  /** A plain sentence without an address. */
  readonly why: string;
  readonly durationMs: number;
}

/** `challenge`: what `challenge` and `review` become. `jwks_url`: where the system's public keys are. */
export type Hook = Readonly<Omit<HookRow, "last_call" | "last_failure">>;

export interface HookNews extends Readonly<HookCountRow> {
  readonly last: HookCall;
}

const callIn = (text: string | null | undefined): HookCall | undefined =>
  text ? (JSON.parse(text) as HookCall) : undefined;

const isFailure = ({ outcome }: HookCall): boolean =>
  outcome !== "accepted" && outcome !== "refused";

/** The newest call of each hook, in the order of hooks, so that no two processes wait for each other's rows. */
function newest(news: readonly HookNews[]): readonly (readonly [id: string, call: HookCall])[] {
  const calls = new Map<string, HookCall>();
  for (const { hook_id: id, last } of news) {
    if ((calls.get(id)?.atMs ?? 0) <= last.atMs) calls.set(id, last);
  }
  return [...calls].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

export class Hooks {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Nothing is changed when the account has `limit` hooks, or no policy of the hook's name. */
  create(made: Hook, limit: number): Promise<"created" | "full" | "no_policy"> {
    return inTransaction(this.#db, async (tx) => {
      const { account_id: accountId, policy: name } = made;
      await lockAccount(tx, accountId);
      const hooks = tx.sql.selectFrom("hooks").where("account_id", "=", accountId);
      if ((await countRows(hooks)) >= limit) return "full";
      await lockPolicies(tx, accountId);
      if (!(await isLivePolicy(tx.sql, { accountId, name }))) return "no_policy";
      await insertRow(tx.sql, "hooks", { ...made, last_call: null, last_failure: null });
      return "created";
    });
  }

  find(id: string): Promise<Hook | undefined> {
    return findRow(this.#db, "hooks", { id });
  }

  list(accountId: string): Promise<readonly Hook[]> {
    const all = this.#db.selectFrom("hooks").selectAll().where("account_id", "=", accountId);
    return all.orderBy("created_at_ms", "desc").orderBy("id").execute();
  }

  async setSecret(id: string, sealed: string): Promise<boolean> {
    return (await changeRows(this.#db, "hooks", { id }, { secret: sealed })) === 1;
  }

  remove(id: string): Promise<boolean> {
    return inTransaction(this.#db, async ({ sql }) => {
      await deleteRows(sql, "hook_counts", { hook_id: id });
      return (await deleteRows(sql, "hooks", { id })) === 1;
    });
  }

  /** Adds counts and replaces the last calls; hooks that are gone are left out. */
  note(news: readonly HookNews[]): Promise<void> {
    return inTransaction(this.#db, async ({ sql }) => {
      const known = new Set<string>();
      for (const [id, call] of newest(news)) {
        const last_call = JSON.stringify(call);
        if ((await changeRows(sql, "hooks", { id }, { last_call })) > 0) known.add(id);
      }
      for (const [id, call] of newest(news.filter(({ last }) => isFailure(last)))) {
        await changeRows(sql, "hooks", { id }, { last_failure: JSON.stringify(call) });
      }
      const counts = news
        .filter(({ hook_id }) => known.has(hook_id))
        .map(({ hook_id, day, outcome, count }) => ({ hook_id, day, outcome, count }));
      await addCounts(sql, "hook_counts", counts);
    });
  }

  async standing(id: string, fromDay: number) {
    const row = await findRow(this.#db, "hooks", { id });
    const rows = await this.#db
      .selectFrom("hook_counts")
      .select((build) => ["outcome", build.fn.sum("count").as("count")])
      .where("hook_id", "=", id)
      .where("day", ">=", fromDay)
      .groupBy("outcome")
      .execute();
    const counted = new Map(rows.map(({ outcome, count }) => [outcome, Number(count)]));
    const counts = HOOK_OUTCOMES.map((outcome) => [outcome, counted.get(outcome) ?? 0] as const);
    return {
      lastCall: callIn(row?.last_call),
      /** The newest call that was neither accepted nor refused. */
      lastFailure: callIn(row?.last_failure),
      counts: Object.fromEntries(counts) as Record<HookOutcome, number>,
    };
  }

  prune(fromDay: number): Promise<number> {
    const key = ["hook_id", "day", "outcome"] as const;
    return pruneRows(this.#db, { table: "hook_counts", key, column: "day", before: fromDay });
  }
}

const HOOKS_MAX = 20;
const COUNTED_DAYS = 30;

/** A call that was read may stand beside others that are not: of another flow, or of another event. */
const UNREAD_MS = 3_600_000;

export interface HookOrder {
  readonly system: string;
  readonly policy?: string | undefined;
  readonly challenge?: string | undefined;
  readonly jwksUrl?: string | undefined;
}

export interface HookServiceDeps {
  readonly hooks: Hooks;
  readonly box: SecretBox;
  readonly ids: Ids;
  readonly clock: Pick<Clock, "nowMs">;
  readonly publicUrl: () => string;
  readonly checkHost: PublicHostCheck;
}

/** Marks the example of `hook test`, which is no call of the system and is not counted. */
export const TEST_HEADER = "gatepost-test";

export const aboutHook = (id: string): string => `hook ${id}`;

/** Hooks of identity systems. Throws a `Refusal` in words that name the mistake. */
export class HookService {
  readonly #deps: HookServiceDeps;

  constructor(deps: HookServiceDeps) {
    this.#deps = deps;
  }

  async create(accountId: string, order: HookOrder) {
    const { hooks, box, ids } = this.#deps;
    const hook = await newHook(accountId, order, this.#deps);
    const secret = newSecret(hook.system, ids);
    const made = { ...hook, secret: box.seal(secret, aboutHook(hook.id)) };
    const created = await hooks.create(made, HOOKS_MAX);
    if (created === "full") {
      throw notNow(`An account has at most ${String(HOOKS_MAX)} hooks. Remove one first.`);
    }
    if (created === "no_policy") {
      throw badField(`The account has no policy ${JSON.stringify(hook.policy)}. Save it first.`);
    }
    return { ...(await this.#shown(made)), secret: hook.system === "neon" ? null : secret };
  }

  async list(accountId: string) {
    const rows = [];
    for (const hook of await this.#deps.hooks.list(accountId)) rows.push(await this.#shown(hook));
    return rows;
  }

  find(id: string): Promise<Hook | undefined> {
    return this.#deps.hooks.find(id);
  }

  async setSecret(hook: Hook, given?: string): Promise<string> {
    const { hooks, box, ids } = this.#deps;
    const secret = given ?? newSecret(hook.system, ids);
    checkSecret(hook.system, secret);
    if (!(await hooks.setSecret(hook.id, box.seal(secret, aboutHook(hook.id))))) throw notFound();
    return secret;
  }

  async remove(hook: Hook): Promise<void> {
    if (!(await this.#deps.hooks.remove(hook.id))) throw notFound();
  }

  example(hook: Hook, email: string) {
    const { box, clock } = this.#deps;
    const { example, sign, name } = SYSTEMS[hook.system];
    const secret = box.open(hook.secret, aboutHook(hook.id));
    if (sign === undefined || secret === undefined) {
      throw notNow(`Only ${name} itself can sign a call of this hook.`);
    }
    const body = JSON.stringify(example(email));
    const signature = sign(body, secret, clock.nowMs());
    const headers = { "content-type": "application/json", [TEST_HEADER]: "1", ...signature };
    return { url: this.#urlOf(hook.id), headers, body };
  }

  /** Why a call of the last hour could not be read, or the last of all; undefined if all could. */
  async unreadCall({ id }: Hook): Promise<string | undefined> {
    const { hooks, clock } = this.#deps;
    const { lastCall, lastFailure } = await hooks.standing(id, 0);
    if (lastCall?.outcome === "unread") return lastCall.why;
    const isOld = (lastFailure?.atMs ?? 0) < clock.nowMs() - UNREAD_MS;
    return lastFailure?.outcome === "unread" && !isOld ? lastFailure.why : undefined;
  }

  #urlOf(id: string): string {
    return `${this.#deps.publicUrl()}/hooks/${id}`;
  }

  async #shown(hook: Hook) {
    const { hooks, clock } = this.#deps;
    const fromDay = dayOf(clock.nowMs()) - COUNTED_DAYS + 1;
    const { counts, lastCall, lastFailure } = await hooks.standing(hook.id, fromDay);
    return {
      id: hook.id,
      system: hook.system,
      url: this.#urlOf(hook.id),
      policy: hook.policy,
      challenge: hook.challenge,
      created_at: isoTime(hook.created_at_ms),
      calls: counts,
      last_call: callRow(lastCall),
      last_failure: callRow(lastFailure),
    };
  }
}

async function newHook(
  accountId: string,
  { system: name, policy = "default", challenge = "accept", jwksUrl: keysAt }: HookOrder,
  { ids, clock, checkHost }: HookServiceDeps,
): Promise<Hook> {
  const system = HOOK_SYSTEMS.find((one) => one === name);
  if (system === undefined) {
    throw badField(`${JSON.stringify(name)} is not one of ${HOOK_SYSTEMS.join(", ")}.`);
  }
  if (challenge !== "accept" && challenge !== "reject") {
    throw badField('"challenge" must be "accept" or "reject".');
  }
  if (keysAt === undefined && system === "neon") {
    throw badField(
      "Neon Auth signs with its own key: give the URL of its public keys (JWKS; on the command line --jwks).",
    );
  }
  if (keysAt !== undefined && system !== "neon" && system !== "fusionauth") {
    throw badField(
      `${SYSTEMS[system].name} signs with the secret: leave out the URL of public keys.`,
    );
  }
  return {
    id: ids.hex32(),
    account_id: accountId,
    system,
    policy,
    challenge,
    secret: "",
    jwks_url: keysAt === undefined ? null : await publicHttpsUrl(keysAt, checkHost),
    created_at_ms: clock.nowMs(),
  };
}

function checkSecret(system: HookSystem, secret: string): void {
  if (system === "neon") throw notNow("Neon Auth signs with its own key: the hook has no secret.");
  if (secret.length < 8 || secret.length > 500 || /\s/.test(secret)) {
    throw badField('"secret" must have 8 to 500 characters without blanks.');
  }
  if (SYSTEMS[system].secret === "whsec" && standardKey(secret) === undefined) {
    throw badField('"secret" must be whsec_ and base64 of 24 to 64 octets.');
  }
}

function newSecret(system: HookSystem, ids: Ids): string {
  const bytes = Buffer.from(ids.bytes(32));
  if (SYSTEMS[system].secret === "plain") return bytes.toString("base64url");
  const secret = `whsec_${bytes.toString("base64")}`;
  return system === "supabase" ? `v1,${secret}` : secret;
}

function callRow(call: HookCall | undefined) {
  if (call === undefined) return null;
  const { atMs, outcome, why, durationMs } = call;
  return { at: isoTime(atMs), outcome, why, duration_ms: durationMs };
}

export type HookJson = Awaited<ReturnType<HookService["list"]>>[number];
export type SignedExample = ReturnType<HookService["example"]>;

import { HOOK_SYSTEMS, type HookSystem } from "../core/policy/outcomes.ts";
import { dayOf, isoTime } from "../core/calendar.ts";
import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import { type HookJson } from "./gate-shapes.ts";
import type { Hook, HookCall, Hooks } from "./hooks-store.ts";
import type { PublicHostCheck } from "../outbound/dial.ts";
import type { SecretBox } from "../base/secrets.ts";
import { badField, notFound, notNow } from "../base/refusals.ts";
import { publicHttpsUrl } from "../webhooks/configure.ts";
import { standardKey } from "./hook-signatures.ts";
import { SYSTEMS } from "./hook-systems.ts";

const HOOKS_MAX = 20;
const COUNTED_DAYS = 30;

/** A call that was read may stand beside others that are not: of another flow, or of another event. */
const UNREAD_MS = 3_600_000;

export interface HookOrder {
  readonly system: string;
  readonly policy?: string;
  readonly challenge?: string;
  readonly jwksUrl?: string;
}

export interface SignedExample {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
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

  async create(
    accountId: string,
    order: HookOrder,
  ): Promise<HookJson & { readonly secret: string | null }> {
    const { hooks, box, ids } = this.#deps;
    const hook = await newHook(accountId, order, this.#deps);
    const secret = newSecret(hook.system, ids);
    const made = { ...hook, secret: box.seal(secret, aboutHook(hook.id)) };
    const created = await hooks.create(made, HOOKS_MAX);
    if (created === "full") {
      throw notNow(`An account has at most ${String(HOOKS_MAX)} hooks. Remove one first.`);
    }
    if (created === "no_policy") {
      throw badField(`The account has no policy ${JSON.stringify(hook.policy)}.`);
    }
    return { ...(await this.#shown(made)), secret: hook.system === "neon" ? null : secret };
  }

  async list(accountId: string): Promise<readonly HookJson[]> {
    const rows: HookJson[] = [];
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

  /** What the system would send for this address, signed. */
  example(hook: Hook, email: string): SignedExample {
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

  async #shown(hook: Hook): Promise<HookJson> {
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
    throw badField("Neon Auth signs with its own key: give the URL of its public keys (JWKS).");
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

const callRow = (call: HookCall | undefined): HookJson["last_call"] =>
  call === undefined
    ? null
    : {
        at: isoTime(call.atMs),
        outcome: call.outcome,
        why: call.why,
        duration_ms: call.durationMs,
      };

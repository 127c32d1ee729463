import { dayOf, isoTime } from "../core/calendar.ts";
import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import { HOOK_SYSTEMS, type HookSystem } from "./hook-types.ts";
import type { Hook, HookCall, Hooks, HookStanding } from "./hooks-store.ts";
import type { HostCheck } from "../outbound/public-host.ts";
import type { SecretBox } from "../base/secrets.ts";
import { badField, notFound, notNow } from "../base/refusals.ts";
import { publicHttpsUrl } from "../webhooks/configure.ts";
import type { HookRow } from "./gate-shapes.ts";
import { standardKey } from "./hook-signatures.ts";
import { SYSTEMS } from "./hook-systems.ts";

const HOOKS_MAX = 20;
const COUNTED_DAYS = 30;

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

/** Hooks of identity systems. Throws a `Refusal` in words that name the mistake. */
export interface HookService {
  create(
    accountId: string,
    order: HookOrder,
  ): Promise<HookRow & { readonly secret: string | null }>;
  list(accountId: string): Promise<readonly HookRow[]>;
  find(id: string): Promise<Hook | undefined>;
  setSecret(hook: Hook, secret?: string): Promise<string>;
  remove(hook: Hook): Promise<void>;
  /** What the system would send for this address, signed. */
  example(hook: Hook, email: string): SignedExample;
}

export interface HookServiceDeps {
  readonly hooks: Hooks;
  readonly box: SecretBox;
  readonly ids: Ids;
  readonly clock: Pick<Clock, "nowMs">;
  readonly publicUrl: () => string;
  readonly checkHost: HostCheck;
}

export const aboutHook = (id: string): string => `hook ${id}`;

export function createHookService(deps: HookServiceDeps): HookService {
  const { hooks, box, ids, clock, publicUrl } = deps;
  const urlOf = (id: string): string => `${publicUrl()}/hooks/${id}`;
  const shown = async (hook: Hook): Promise<HookRow> => {
    const fromDay = dayOf(clock.nowMs()) - COUNTED_DAYS + 1;
    return rowOf(hook, urlOf(hook.id), await hooks.standing(hook.id, fromDay));
  };
  return {
    async create(accountId, order) {
      const hook = await newHook(accountId, order, deps);
      const secret = newSecret(hook.system, ids);
      const made = { ...hook, secret: box.seal(secret, aboutHook(hook.id)) };
      const created = await hooks.create(made, HOOKS_MAX);
      if (created === "full") {
        throw notNow(`An account has at most ${String(HOOKS_MAX)} hooks. Remove one first.`);
      }
      if (created === "no_policy") {
        throw badField(`The account has no policy ${JSON.stringify(hook.policy)}.`);
      }
      return { ...(await shown(made)), secret: hook.system === "neon" ? null : secret };
    },
    async list(accountId) {
      const rows: HookRow[] = [];
      for (const hook of await hooks.list(accountId)) rows.push(await shown(hook));
      return rows;
    },
    find: (id) => hooks.find(id),
    async setSecret(hook, given) {
      const secret = given ?? newSecret(hook.system, ids);
      checkSecret(hook.system, secret);
      if (!(await hooks.setSecret(hook.id, box.seal(secret, aboutHook(hook.id))))) throw notFound();
      return secret;
    },
    async remove(hook) {
      if (!(await hooks.remove(hook.id))) throw notFound();
    },
    example(hook, email) {
      const { example, sign, name } = SYSTEMS[hook.system];
      const secret = box.open(hook.secret, aboutHook(hook.id));
      if (sign === undefined || secret === undefined) {
        throw notNow(`Only ${name} itself can sign a call of this hook.`);
      }
      const body = JSON.stringify(example(email));
      const headers = { "content-type": "application/json", ...sign(body, secret, clock.nowMs()) };
      return { url: urlOf(hook.id), headers, body };
    },
  };
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
  const jwksUrl = keysAt === undefined ? undefined : await publicHttpsUrl(keysAt, checkHost);
  return {
    id: ids.hex32(),
    accountId,
    system,
    policy,
    challenge,
    secret: "",
    ...(jwksUrl !== undefined && { jwksUrl }),
    createdAtMs: clock.nowMs(),
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

const callRow = (call: HookCall | undefined): HookRow["last_call"] =>
  call === undefined
    ? null
    : {
        at: isoTime(call.atMs),
        outcome: call.outcome,
        why: call.why,
        duration_ms: call.durationMs,
      };

const rowOf = (hook: Hook, url: string, standing: HookStanding): HookRow => ({
  id: hook.id,
  system: hook.system,
  url,
  policy: hook.policy,
  challenge: hook.challenge,
  created_at: isoTime(hook.createdAtMs),
  calls: standing.counts,
  last_call: callRow(standing.lastCall),
  last_failure: callRow(standing.lastFailure),
});

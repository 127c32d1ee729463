import type { JsonWebKey } from "node:crypto";
import type { TestContext } from "node:test";
import type { Admission } from "../../src/accounts/admission/admission.ts";
import { Accounts } from "../../src/accounts/accounts-store.ts";
import { systemIds as ids } from "../../src/base/ids.ts";
import { createSecretBox } from "../../src/base/secrets.ts";
import { createShares } from "../../src/base/shares.ts";
import { HookHandler } from "../../src/gate/hook-handler.ts";
import { SYSTEMS } from "../../src/gate/hook-systems.ts";
import { type Hook, Hooks, HookService } from "../../src/gate/hooks.ts";
import { hookPage } from "../../src/http/api/hooks.ts";
import { BodyReader } from "../../src/http/body.ts";
import { appWith } from "../http/http-app.ts";
import { inject } from "../http/inject.ts";
import { realClock } from "../time/real-clock.ts";
import { GATE_KEY, type GateOptions, gateWorld } from "./gate-world.ts";

interface HookWorldOptions extends GateOptions {
  readonly jwks?: readonly JsonWebKey[];
  readonly tier?: "free" | "pro";
  /** Stands before the admission that hooks ask. */
  readonly admission?: (real: Admission) => Pick<Admission, "enterAs">;
}

/** Hooks of one account in front of the sign-up gate; `bad.example` is disposable. */
export async function hookWorld(
  t: TestContext,
  { jwks = [], tier = "pro", admission = (real) => real, ...options }: HookWorldOptions = {},
) {
  const world = await gateWorld(t, { known: { curated: ["bad.example"] }, ...options });
  const { db } = world.store.sql;
  let aheadMs = 0;
  const clock = {
    ...realClock,
    nowMs: () => realClock.nowMs() + aheadMs,
    monotonicMs: () => realClock.monotonicMs() + aheadMs,
    advance: (ms: number) => {
      aheadMs += ms;
    },
  };
  const account = await world.account("jo@shop.example", tier);
  const owner = await new Accounts(db).find(account.id);
  if (owner === undefined) throw new Error("no account");
  const box = createSecretBox(GATE_KEY);
  const hooks = new Hooks(db);
  const publicUrl = (): string => "https://gatepost.example";
  const service = new HookService({
    hooks,
    box,
    ids,
    clock,
    publicUrl,
    checkHost: (host) =>
      Promise.resolve(
        host.startsWith("inside.")
          ? { ok: false, fault: "not_public", detail: "192.0.2.1" }
          : undefined,
      ),
  });
  const stand: { findHook?: ((id: string) => Promise<Hook | undefined>) | undefined } = {};
  const desk = new HookHandler({
    hooks: {
      find: (id) => stand.findHook?.(id) ?? hooks.find(id),
      note: (news) => hooks.note(news),
    },
    accounts: new Accounts(db),
    admission: admission(world.admission),
    decideOne: world.decideOne,
    decideOnKnown: world.decideOnKnown,
    box,
    jwks: () => () => Promise.resolve(jwks),
    counted: () => undefined,
    clock,
    log: world.log,
  });
  const shares = createShares();
  const bodies = new BodyReader({ shares, clock });
  const page = hookPage({ hooks: desk, trustedProxies: [], bodies });
  const app = appWith({ clock, log: world.log, pages: { pages: [page] } });
  world.closing.push(() => desk.flush());
  return Object.assign(stand, {
    app,
    accountId: account.id,
    shares,
    clock,
    policies: world.policies,
    logged: () => world.log.text(),
    policy: (name: string, document: unknown) =>
      world.policies.save({ account: owner, author: "jo" }, name, document, "live"),
    service,
    async list(accountId: string) {
      await desk.flush();
      return await service.list(accountId);
    },
    async hook(
      system: string,
      challenge: "accept" | "reject" = "accept",
      policy = "default",
    ): Promise<Hook> {
      const jwksUrl = system === "neon" ? { jwksUrl: "https://keys.example.com/jwks" } : {};
      const made = await service.create(account.id, { system, challenge, policy, ...jwksUrl });
      const hook = await service.find(made.id);
      if (hook === undefined) throw new Error("no hook");
      return hook;
    },
    signed(hook: Hook, body: string): Record<string, string> {
      const secret = box.open(hook.secret, `hook ${hook.id}`) ?? "";
      return SYSTEMS[hook.system].sign?.(body, secret, clock.nowMs()) ?? {};
    },
    async post(
      id: string,
      payload: string,
      headers: Record<string, string>,
    ): Promise<readonly [number, string]> {
      const type = { "content-type": "application/json" };
      const url = `/hooks/${id}`;
      const answer = await inject(app, {
        method: "POST",
        url,
        payload,
        headers: { ...type, ...headers },
      });
      return [answer.statusCode, answer.body];
    },
    async logDecisions(): Promise<void> {
      await world.store.switches.switchLog(account.id, "on");
    },
    /** Logged decisions, newest first. */
    async decisions(decision: string) {
      await world.flush();
      return (await world.decisionLog.page(account.id, { decision, limit: 100 })).decisions;
    },
    async units(): Promise<number> {
      await world.flush();
      const rows = await world.outcomes.ofAccount(account.id, 0);
      return rows.reduce((all, { count }) => all + count, 0);
    },
    /** Units of the plan that were charged. */
    async charged(): Promise<number> {
      await world.flush();
      const rows = await db.selectFrom("usage_days").select("units").execute();
      return rows.reduce((all, { units }) => all + units, 0);
    },
  });
}

import { Type } from "../../../core/json-schema.ts";
import { HOOK_SYSTEMS } from "../../../gate/hook-types.ts";
import type { Audit } from "../../../accounts/audit.ts";
import { SYSTEMS } from "../../../gate/hook-systems.ts";
import type { HookDesk } from "../../../gate/hook-desk.ts";
import type { HookService } from "../../../gate/hooks.ts";
import { notFound } from "../../../base/refusals.ts";
import { textField } from "../fields.ts";
import { HookSecret, HookTest, HooksPage, NewHook } from "./gate-shapes.ts";
import { noteOwn } from "../note.ts";
import { type AccountRoute, answering, done, type SignedInRequest } from "../route.ts";

export interface HookRouteDeps {
  readonly hookService: HookService;
  readonly hooks: Pick<HookDesk, "answer">;
}

interface Deps extends HookRouteDeps {
  readonly audit: Audit;
}

/** Hooks of the account's identity systems. */
export const hookRoutes = (deps: Deps): readonly AccountRoute[] => [
  listRoute(deps),
  createRoute(deps),
  secretRoute(deps),
  testRoute(deps),
  removeRoute(deps),
];

const systems = HOOK_SYSTEMS.map((id) => ({
  id,
  name: SYSTEMS[id].name,
  guide: `docs/hooks.md#${id}`,
  deadline_ms: SYSTEMS[id].deadlineMs,
}));

const listRoute = ({ hookService }: Deps): AccountRoute =>
  answering(HooksPage, {
    method: "GET",
    path: "hooks",
    for: "account",
    summary: "The hooks with their last call and why it failed",
    handle: async ({ account }) => ({ systems, hooks: await hookService.list(account.id) }),
  });

const createRoute = ({ hookService, audit }: Deps): AccountRoute =>
  answering(NewHook, {
    method: "POST",
    path: "hooks",
    for: "account",
    summary: "Make a hook; its secret is in this answer only",
    body: Type.Object({
      system: Type.String(),
      policy: Type.Optional(Type.String()),
      challenge: Type.Optional(Type.String()),
      jwks_url: Type.Optional(Type.String()),
    }),
    async handle(request) {
      const { body, account } = request;
      const optional = (name: string, field: string) =>
        body[name] === undefined ? {} : { [field]: textField(body, name, 600) };
      const made = await hookService.create(account.id, {
        system: textField(body, "system", 100),
        ...optional("policy", "policy"),
        ...optional("challenge", "challenge"),
        ...optional("jwks_url", "jwksUrl"),
      });
      await noteOwn(request, audit, { action: "hook.created", detail: made.system });
      return made;
    },
  });

const secretRoute = (deps: Deps): AccountRoute =>
  answering(HookSecret, {
    method: "POST",
    path: "hooks/:id/secret",
    for: "account",
    summary: "Make a new secret, or take the one that the system made",
    body: Type.Object({ secret: Type.Optional(Type.String()) }),
    async handle(request) {
      const hook = await ownHook(request, deps);
      const given = request.body["secret"] === undefined;
      const secret = await deps.hookService.setSecret(
        hook,
        given ? undefined : textField(request.body, "secret", 600),
      );
      await noteOwn(request, deps.audit, { action: "hook.secret", detail: hook.system });
      return { secret };
    },
  });

const testRoute = (deps: Deps): AccountRoute =>
  answering(HookTest, {
    method: "POST",
    path: "hooks/:id/test",
    for: "account",
    summary: "Answer a signed example as the system would send it; one unit",
    body: Type.Object({ email: Type.Optional(Type.String()) }),
    async handle(request) {
      const hook = await ownHook(request, deps);
      const { body } = request;
      const email = body["email"] === undefined ? EXAMPLE : textField(body, "email", 300);
      const sent = deps.hookService.example(hook, email);
      const call = { body: Buffer.from(sent.body), headers: sent.headers };
      const reply = await deps.hooks.answer(hook.id, call, request.visitor.clientAddress);
      if (reply === undefined) throw notFound();
      return { status: reply.status, body: reply.body ?? "" };
    },
  });

const EXAMPLE = "jo@mailinator.com";

const removeRoute = (deps: Deps): AccountRoute => ({
  method: "DELETE",
  path: "hooks/:id",
  for: "account",
  summary: "Remove a hook; it is answered with 404 within 5 s",
  async handle(request) {
    const hook = await ownHook(request, deps);
    await deps.hookService.remove(hook);
    await noteOwn(request, deps.audit, { action: "hook.removed", detail: hook.system });
    return done;
  },
});

async function ownHook({ account, id }: SignedInRequest, { hookService }: Deps) {
  const hook = await hookService.find(id);
  if (hook?.accountId !== account.id) throw notFound();
  return hook;
}

import { notFound } from "../../base/refusals.ts";
import { SYSTEMS } from "../../gate/hook-systems.ts";
import { HOOK_SYSTEMS, HookSecret, HooksPage, HookTest, NewHook } from "../../gate/gate-shapes.ts";
import type { DashboardGate } from "./context.ts";
import {
  account,
  type AccountRoute,
  noteOwn,
  optional,
  type SignedInRequest,
  textField,
} from "./route.ts";

const EXAMPLE = "jo@mailinator.com";

const systems = HOOK_SYSTEMS.map((id) => ({
  id,
  name: SYSTEMS[id].name,
  guide: `docs/hooks.md#${id}`,
  deadline_ms: SYSTEMS[id].deadlineMs,
}));

const shortText = optional(textField(600));

export const hookRoutes = ({ hookService, hooks }: DashboardGate): readonly AccountRoute[] => [
  account(
    "GET hooks",
    "The hooks with their last call and why it failed",
    { answer: HooksPage },
    async (request) => ({ systems, hooks: await hookService.list(request.account.id) }),
  ),
  account(
    "POST hooks",
    "Make a hook; its secret is in this answer only",
    {
      body: {
        system: textField(100),
        policy: shortText,
        challenge: shortText,
        jwks_url: shortText,
      },
      answer: NewHook,
    },
    async (request) => {
      const { system, policy, challenge, jwks_url: jwksUrl } = request.body;
      const made = await hookService.create(request.account.id, {
        system,
        ...(policy !== undefined && { policy }),
        ...(challenge !== undefined && { challenge }),
        ...(jwksUrl !== undefined && { jwksUrl }),
      });
      await noteOwn(request, { action: "hook.created", detail: made.system });
      return made;
    },
  ),
  ...ownRoutes(hookService, hooks),
];

const ownRoutes = (
  hookService: DashboardGate["hookService"],
  hooks: DashboardGate["hooks"],
): readonly AccountRoute[] => [
  account(
    "POST hooks/:id/secret",
    "Make a new secret, or take the one that the system made",
    { body: { secret: shortText }, answer: HookSecret },
    async (request) => {
      const hook = await ownHook(request, hookService);
      const secret = await hookService.setSecret(hook, request.body.secret);
      await noteOwn(request, { action: "hook.secret", detail: hook.system });
      return { secret };
    },
  ),
  account(
    "POST hooks/:id/test",
    "Answer a signed example as the system would send it; one unit",
    { body: { email: optional(textField(300)) }, answer: HookTest },
    async (request) => {
      const hook = await ownHook(request, hookService);
      const sent = hookService.example(hook, request.body.email ?? EXAMPLE);
      const call = { body: Buffer.from(sent.body), headers: sent.headers };
      const reply = await hooks.answer(hook.id, call, request.visitor.clientAddress);
      if (reply === undefined) throw notFound();
      return { status: reply.status, body: reply.body ?? "" };
    },
  ),
  account(
    "DELETE hooks/:id",
    "Remove a hook; it is answered with 404 within 5 s",
    {},
    async (request) => {
      const hook = await ownHook(request, hookService);
      await hookService.remove(hook);
      await noteOwn(request, { action: "hook.removed", detail: hook.system });
    },
  ),
];

async function ownHook(
  { account: own, id }: SignedInRequest,
  hookService: DashboardGate["hookService"],
) {
  const hook = await hookService.find(id);
  if (hook?.account_id !== own.id) throw notFound();
  return hook;
}

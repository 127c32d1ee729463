import { HOOK_SYSTEMS } from "../../core/policy/outcomes.ts";
import { tierOf } from "../../accounts/admission/tiers.ts";
import { badField, badPolicy, notFound } from "../../base/refusals.ts";
import { translationsFor } from "../../core/policy/messages.ts";
import { parsePolicy, working } from "../../core/policy/parse-policy.ts";
import type { Policy } from "../../core/policy/policy.ts";
import { SYSTEMS } from "../../gate/hook-systems.ts";
import { OUTCOME_DAYS } from "../../gate/outcomes.ts";
import { SHADOW_DAYS } from "../../gate/policies.ts";
import {
  account,
  anyField,
  type AccountRequest,
  boundedNumber,
  inRate,
  type DashboardServices,
  type Reader,
  noteOwn,
  optional,
  type SignedInRequest,
  bodyText,
  textsField,
  wholeField,
} from "./route.ts";

const documentField: Reader<unknown> = (value) => {
  if (value === undefined) throw badField('"document" must be a policy.');
  return value;
};

const authorOf = ({ account: own }: SignedInRequest) => ({ account: own, author: own.email });

async function policyOf(
  { gate, tiers, clock }: DashboardServices,
  { account: own, id, body }: SignedInRequest<{ readonly document: unknown }>,
): Promise<Policy> {
  if (body.document === undefined) {
    const { document, mistakes = [] } = await gate.policies.show(own.id, id);
    const policy = working(parsePolicy(document, { hasDomainAge: true }));
    if (policy === undefined) throw badPolicy(mistakes);
    return policy;
  }
  const { premium } = tiers[tierOf(own, clock.nowMs())];
  const read = parsePolicy(body.document, { hasDomainAge: premium });
  if (!read.ok) throw badPolicy(read.mistakes);
  return read.policy;
}

function versionOf(number = NaN): number {
  if (Number.isSafeInteger(number) && number > 0 && number < 1_000_000_000) return number;
  throw badField('"version" must be a whole number.');
}

const shadowDays = ({ query }: AccountRequest): number =>
  boundedNumber(query["days"], { standard: 30, max: SHADOW_DAYS });

/** The policies, of which each change is noted. */
const noted = ({ gate }: DashboardServices, { note }: SignedInRequest) => gate.policies.by(note);

export const policyRoutes = [
  account("GET policies", {}, async ({ gate }, { account: own }) => ({
    policies: await gate.policies.list(own.id),
  })),
  account("GET messages", {}, (_, { query: { language = "en" } }) => translationsFor(language)),
  account("GET policies/:id", {}, ({ gate }, { account: own, id, query: { version } }) =>
    gate.policies.show(own.id, id, version === undefined ? version : versionOf(Number(version))),
  ),
  account("GET policies/:id/shadow", {}, ({ gate }, request) =>
    gate.policies.shadowReport(request.account.id, request.id, shadowDays(request)),
  ),
  account("GET policies/:id/counts", {}, ({ gate }, request) =>
    gate.policies.ruleCounts(request.account.id, request.id, shadowDays(request)),
  ),
  account("GET outcomes", {}, ({ gate }, { account: own, query }) =>
    gate.reportOutcomes(own.id, boundedNumber(query["days"], { standard: 30, max: OUTCOME_DAYS })),
  ),
  account(
    "POST policies/:id",
    { body: { document: documentField }, largeBody: true },
    (services, request) =>
      noted(services, request).save(authorOf(request), request.id, request.body.document, "live"),
  ),
  account(
    "POST policies/:id/shadow",
    { body: { document: anyField, version: optional(wholeField) }, largeBody: true },
    (services, request) => {
      const { account: own, id, body } = request;
      const policies = noted(services, request);
      return body.document === undefined
        ? policies.setShadow(own.id, id, versionOf(body.version))
        : policies.save(authorOf(request), id, body.document, "shadow");
    },
  ),
  account("POST policies/:id/promote", {}, (services, request) =>
    noted(services, request).promote(request.account.id, request.id),
  ),
  account("DELETE policies/:id/shadow", {}, async (services, request) => {
    await noted(services, request).endShadow(request.account.id, request.id);
  }),
  account("DELETE policies/:id", {}, async (services, request) => {
    await noted(services, request).remove(request.account.id, request.id);
  }),
  account(
    "POST policies/:id/test",
    { body: { entries: textsField(20), document: anyField }, largeBody: true },
    async (services, request) => {
      const { entries } = request.body;
      if (entries.length === 0) throw badField('"entries" must have at least one entry.');
      const policy = await policyOf(services, request);
      return inRate(services, request, async (admitted) => {
        const receipt = await services.admission.charge(admitted, entries.length);
        try {
          const { premium } = services.tiers[admitted.caller.tier];
          return { results: await services.gate.testPolicy(policy, entries, { premium }) };
        } catch (fault) {
          await receipt.refund();
          throw fault;
        }
      });
    },
  ),
];

const EXAMPLE = "jo@mailinator.com";

const systems = HOOK_SYSTEMS.map((id) => ({
  id,
  name: SYSTEMS[id].name,
  guide: `docs/hooks.md#${id}`,
  deadline_ms: SYSTEMS[id].deadlineMs,
}));

const shortText = optional(bodyText(600));

async function ownHook({ gate }: DashboardServices, { account: own, id }: SignedInRequest) {
  const hook = await gate.hookService.find(id);
  if (hook?.account_id !== own.id) throw notFound();
  return hook;
}

export const hookRoutes = [
  account("GET hooks", {}, async ({ gate }, { account: own }) => ({
    systems,
    hooks: await gate.hookService.list(own.id),
  })),
  account(
    "POST hooks",
    {
      body: {
        system: bodyText(100),
        policy: shortText,
        challenge: shortText,
        jwks_url: shortText,
      },
    },
    async ({ gate }, request) => {
      const { jwks_url: jwksUrl, ...order } = request.body;
      const made = await gate.hookService.create(request.account.id, { ...order, jwksUrl });
      await noteOwn(request, { action: "hook.created", detail: made.system });
      return made;
    },
  ),
  account("POST hooks/:id/secret", { body: { secret: shortText } }, async (services, request) => {
    const hook = await ownHook(services, request);
    const secret = await services.gate.hookService.setSecret(hook, request.body.secret);
    await noteOwn(request, { action: "hook.secret", detail: hook.system });
    return { secret };
  }),
  account(
    "POST hooks/:id/test",
    { body: { email: optional(bodyText(300)) } },
    async (services, request) => {
      const hook = await ownHook(services, request);
      const { hookService, hooks } = services.gate;
      const sent = hookService.example(hook, request.body.email ?? EXAMPLE);
      const call = { body: Buffer.from(sent.body), headers: sent.headers };
      const { clientAddress } = request.visitor;
      const terms = { clientAddress, isSent: Promise.resolve(true) };
      const reply = await hooks.answer(hook.id, call, terms);
      if (reply === undefined) throw notFound();
      return { status: reply.status, body: reply.body ?? "" };
    },
  ),
  account("DELETE hooks/:id", {}, async (services, request) => {
    const hook = await ownHook(services, request);
    await services.gate.hookService.remove(hook);
    await noteOwn(request, { action: "hook.removed", detail: hook.system });
  }),
  account("POST token-secret", {}, async ({ gate }, { account: { id }, note }) => ({
    secret: await gate.tokens.renewSecret(id, note),
  })),
];

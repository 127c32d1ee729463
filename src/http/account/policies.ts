import { tierOf } from "../../accounts/admission/tiers.ts";
import { accountKey } from "../../base/owner.ts";
import { adminsOnly, badField, badPolicy } from "../../base/refusals.ts";
import { Type } from "../../core/json-schema.ts";
import { parsePolicy } from "../../core/policy/parse-policy.ts";
import type { Policy } from "../../core/policy/policy.ts";
import { auditedPolicies } from "../../gate/audited.ts";
import { OUTCOME_DAYS } from "../../gate/outcome-report.ts";
import { SHADOW_DAYS } from "../../gate/policies.ts";
import { VERDICT_DAYS } from "../../lists/verdict-recorder.ts";
import { counted, type DashboardContext, type DashboardGate } from "./context.ts";
import {
  BackTestReport,
  OutcomeReport,
  Policies,
  PolicyPage,
  SavedPolicy,
  ShadowReport,
} from "../../gate/gate-shapes.ts";
import { PolicyTests } from "./shapes.ts";
import {
  account,
  type AccountRoute,
  boundedNumber,
  type Field,
  optional,
  type SignedInRequest,
  textsField,
  wholeField,
} from "./route.ts";

const ENTRIES_MAX = 20;

/** A policy of any kind: it is parsed with the plan of its account. */
const draftField: Field<unknown> = {
  schema: Type.Optional(Type.Object({})),
  read: (value) => value,
};
const documentField: Field<unknown> = {
  schema: Type.Object({}),
  read(value) {
    if (value === undefined) throw badField('"document" must be a policy.');
    return value;
  },
};

const authorOf = ({ account: own }: SignedInRequest) => ({ account: own, author: own.email });

type Context = DashboardContext & DashboardGate;

export const policyRoutes = (context: Context): readonly AccountRoute[] => [
  ...readingRoutes(context),
  ...savingRoutes(context),
  ...endingRoutes(context),
  ...testRoutes(context),
];

const readingRoutes = ({ policies, reportOutcomes }: Context): readonly AccountRoute[] => [
  account(
    "GET policies",
    "The policies; the built-in one is `default` until another is saved",
    { answer: Policies },
    async (request) => ({ policies: await policies.list(request.account.id) }),
  ),
  account(
    "GET policies/:id",
    "One policy by name; `version`: another than the live one",
    { answer: PolicyPage },
    ({ account: own, id, query: { version } }) =>
      policies.show(own.id, id, version === undefined ? undefined : versionOf(Number(version))),
  ),
  account(
    "GET policies/:id/shadow",
    "What the shadow would have decided in the last `days`",
    { answer: ShadowReport },
    ({ account: own, id, query }) => {
      const days = boundedNumber(query["days"], { standard: 30, max: SHADOW_DAYS });
      return policies.shadowReport(own.id, id, days);
    },
  ),
  account(
    "GET outcomes",
    "Decisions of the last `days` by day, reason, key and form",
    { answer: OutcomeReport },
    ({ account: own, query }) =>
      reportOutcomes(own.id, boundedNumber(query["days"], { standard: 30, max: OUTCOME_DAYS })),
  ),
];

const savingRoutes = ({ policies }: Context): readonly AccountRoute[] => [
  account(
    "POST policies/:id",
    "Save a new version, which is live from now on",
    { body: { document: documentField }, answer: SavedPolicy, largeBody: true },
    (request) => {
      const noted = auditedPolicies(policies, request.note);
      return noted.save(authorOf(request), request.id, request.body.document, "live");
    },
  ),
  account(
    "POST policies/:id/shadow",
    "Run a new version, or an older one by its number, as shadow",
    {
      body: { document: draftField, version: optional(wholeField) },
      answer: SavedPolicy,
      largeBody: true,
    },
    (request) => {
      const { document, version } = request.body;
      const noted = auditedPolicies(policies, request.note);
      return document === undefined
        ? noted.setShadow(request.account.id, request.id, versionOf(version))
        : noted.save(authorOf(request), request.id, document, "shadow");
    },
  ),
  account(
    "POST policies/:id/promote",
    "Make the shadow live",
    { answer: SavedPolicy },
    ({ account: own, id, note }) => auditedPolicies(policies, note).promote(own.id, id),
  ),
];

const endingRoutes = ({ policies }: Context): readonly AccountRoute[] => [
  account("DELETE policies/:id/shadow", "End the shadow", {}, async (request) => {
    await auditedPolicies(policies, request.note).endShadow(request.account.id, request.id);
  }),
  account(
    "DELETE policies/:id",
    "Remove a policy; `default` is the built-in one then",
    {},
    async (request) => {
      await auditedPolicies(policies, request.note).remove(request.account.id, request.id);
    },
  ),
];

const testRoutes = (context: Context): readonly AccountRoute[] => [
  account(
    "POST policies/:id/test",
    "What the live policy, or a draft, decides about up to 20 entries; one unit each",
    {
      body: { entries: textsField(ENTRIES_MAX), document: draftField },
      answer: PolicyTests,
      largeBody: true,
    },
    async (request) => {
      const { entries } = request.body;
      if (entries.length === 0) throw badField('"entries" must have at least one entry.');
      const policy = await policyOf(request, context);
      return counted(request, context, async (entrance) => {
        const receipt = await context.admission.charge(entrance, entries.length);
        try {
          const { premium } = context.tiers[entrance.caller.tier];
          return { results: await context.testPolicy(policy, entries, { premium }) };
        } catch (fault) {
          await receipt.refund();
          throw fault;
        }
      });
    },
  ),
  account(
    "POST policies/:id/back-test",
    "For administrators: what a draft, or else the shadow, would have decided on the checks of all accounts",
    {
      body: { document: draftField, days: optional(wholeField) },
      answer: BackTestReport,
      largeBody: true,
    },
    async (request) => {
      const { account: own, body, id } = request;
      if (!own.isAdmin) throw adminsOnly();
      const { live, shadow } = await context.policies.show(own.id, id);
      const days = Math.max(1, Math.min(VERDICT_DAYS, body.days ?? VERDICT_DAYS));
      const draft = await policyOf(request, context, shadow ?? live);
      const stored = await storedOf(request, context, live);
      return await context.backTestPolicy(accountKey(own.id), { live: stored, draft, days });
    },
  ),
];

function policyOf(
  request: SignedInRequest<{ readonly document: unknown }>,
  context: Context,
  version?: number,
): Promise<Policy> {
  const { document } = request.body;
  if (document === undefined) return storedOf(request, context, version);
  const { premium } = context.tiers[tierOf(request.account, context.clock.nowMs())];
  const read = parsePolicy(document, { hasDomainAge: premium });
  return read.ok ? Promise.resolve(read.policy) : Promise.reject(badPolicy(read.mistakes));
}

async function storedOf(
  { account: own, id }: SignedInRequest,
  { policies }: Context,
  version?: number,
): Promise<Policy> {
  const { document } = await policies.show(own.id, id, version);
  const read = parsePolicy(document, { hasDomainAge: true });
  if (!read.ok) throw badPolicy(read.mistakes);
  return read.policy;
}

function versionOf(number = NaN): number {
  if (Number.isSafeInteger(number) && number > 0 && number < 1_000_000_000) return number;
  throw badField('"version" must be a whole number.');
}

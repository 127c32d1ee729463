import { parsePolicy } from "../../../core/policy/parse-policy.ts";
import type { Policy } from "../../../core/policy/policy.ts";
import { accountKey, type OwnerKey } from "../../../base/owner.ts";
import type { Admission } from "../../../accounts/admission/admission.ts";
import { tierOf, type Tiers } from "../../../accounts/admission/tiers.ts";
import type { Audit } from "../../../accounts/audit.ts";
import { auditedPolicies } from "../../../gate/audited.ts";
import type { BackTested, PolicyBackTest } from "../../../gate/back-test.ts";
import { OUTCOME_DAYS, type ReportOutcomes } from "../../../gate/outcome-report.ts";
import { type PolicyService, SHADOW_DAYS } from "../../../gate/policies.ts";
import type { TestPolicy } from "../../../gate/test-policy.ts";
import { VERDICT_DAYS } from "../../../lists/verdict-recorder.ts";
import { adminsOnly, badField, badPolicy } from "../../../base/refusals.ts";
import { Type } from "../../../core/json-schema.ts";
import { counted, type CountedDeps } from "../counted.ts";
import { boundedNumber, numberField, textsField } from "../fields.ts";
import { noteOf } from "../note.ts";
import {
  BackTestReport,
  OutcomeReport,
  Policies,
  PolicyPage,
  PolicyTests,
  SavedPolicy,
  ShadowReport,
} from "./gate-shapes.ts";
import { type AccountRoute, answering, done, type SignedInRequest } from "../route.ts";

export interface PolicyDeps {
  readonly charge: Admission["charge"];
  readonly policies: PolicyService;
  readonly testPolicy: TestPolicy;
  /** In the owner's turn. Rejects with `NoRoom`. */
  readonly backTestPolicy: (owner: OwnerKey, asked: BackTested) => Promise<PolicyBackTest>;
  readonly reportOutcomes: ReportOutcomes;
}

interface Deps extends PolicyDeps, CountedDeps {
  readonly tiers: Tiers;
  readonly audit: Audit;
}

const ENTRIES_MAX = 20;
const Document = Type.Object({});

/** The account's policies, what they would do, and what was decided. */
export const policyRoutes = (deps: Deps): readonly AccountRoute[] => [
  ...readingRoutes(deps),
  ...savingRoutes(deps),
  ...endingRoutes(deps),
  testRoute(deps),
  backTestRoute(deps),
];

const readingRoutes = ({ policies, reportOutcomes }: Deps): readonly AccountRoute[] => [
  answering(Policies, {
    method: "GET",
    path: "policies",
    for: "account",
    summary: "The policies; the built-in one is `default` until another is saved",
    handle: async ({ account }) => ({ policies: await policies.list(account.id) }),
  }),
  answering(PolicyPage, {
    method: "GET",
    path: "policies/:id",
    for: "account",
    summary: "One policy by name; `version`: another than the live one",
    async handle({ account, id, query }) {
      const version = query["version"];
      const asked = version === undefined ? undefined : versionOf(Number(version));
      return await policies.show(account.id, id, asked);
    },
  }),
  answering(ShadowReport, {
    method: "GET",
    path: "policies/:id/shadow",
    for: "account",
    summary: "What the shadow would have decided in the last `days`",
    async handle({ account, id, query }) {
      const days = boundedNumber(query["days"], { standard: 30, max: SHADOW_DAYS });
      return await policies.shadowReport(account.id, id, days);
    },
  }),
  answering(OutcomeReport, {
    method: "GET",
    path: "outcomes",
    for: "account",
    summary: "Decisions of the last `days` by day, reason, key and form",
    async handle({ account, query }) {
      const days = boundedNumber(query["days"], { standard: 30, max: OUTCOME_DAYS });
      return await reportOutcomes(account.id, days);
    },
  }),
];

const savingRoutes = ({ policies, audit }: Deps): readonly AccountRoute[] => [
  answering(SavedPolicy, {
    method: "POST",
    path: "policies/:id",
    for: "account",
    summary: "Save a new version, which is live from now on",
    body: Type.Object({ document: Document }),
    largeBody: true,
    async handle(request) {
      const noted = auditedPolicies(policies, noteOf(request, audit));
      return await noted.save(authorOf(request), request.id, documentOf(request), "live");
    },
  }),
  answering(SavedPolicy, {
    method: "POST",
    path: "policies/:id/shadow",
    for: "account",
    summary: "Run a new version, or an older one by its number, as shadow",
    body: Type.Object({
      document: Type.Optional(Document),
      version: Type.Optional(Type.Integer()),
    }),
    largeBody: true,
    async handle(request) {
      const { account, body, id } = request;
      const noted = auditedPolicies(policies, noteOf(request, audit));
      if (body["document"] !== undefined) {
        return await noted.save(authorOf(request), id, documentOf(request), "shadow");
      }
      return await noted.setShadow(account.id, id, versionOf(numberField(body, "version")));
    },
  }),
  answering(SavedPolicy, {
    method: "POST",
    path: "policies/:id/promote",
    for: "account",
    summary: "Make the shadow live",
    async handle(request) {
      const noted = auditedPolicies(policies, noteOf(request, audit));
      return await noted.promote(request.account.id, request.id);
    },
  }),
];

const endingRoutes = ({ policies, audit }: Deps): readonly AccountRoute[] => [
  {
    method: "DELETE",
    path: "policies/:id/shadow",
    for: "account",
    summary: "End the shadow",
    async handle(request) {
      const noted = auditedPolicies(policies, noteOf(request, audit));
      await noted.endShadow(request.account.id, request.id);
      return done;
    },
  },
  {
    method: "DELETE",
    path: "policies/:id",
    for: "account",
    summary: "Remove a policy; `default` is the built-in one then",
    async handle(request) {
      const noted = auditedPolicies(policies, noteOf(request, audit));
      await noted.remove(request.account.id, request.id);
      return done;
    },
  },
];

const testRoute = (deps: Deps): AccountRoute =>
  answering(PolicyTests, {
    method: "POST",
    path: "policies/:id/test",
    for: "account",
    summary: "What the live policy, or a draft, decides about up to 20 entries; one unit each",
    body: Type.Object({
      entries: Type.Array(Type.String()),
      document: Type.Optional(Document),
    }),
    largeBody: true,
    async handle(request) {
      const entries = textsField(request.body, "entries", ENTRIES_MAX);
      if (entries.length === 0) throw badField('"entries" must have at least one entry.');
      const policy = await policyOf(request, deps);
      return counted(request, deps, async (entrance) => {
        const receipt = await deps.charge(entrance, entries.length);
        try {
          const { premium } = deps.tiers[entrance.caller.tier];
          return { results: await deps.testPolicy(policy, entries, { premium }) };
        } catch (fault) {
          await receipt.refund();
          throw fault;
        }
      });
    },
  });

const backTestRoute = (deps: Deps): AccountRoute =>
  answering(BackTestReport, {
    method: "POST",
    path: "policies/:id/back-test",
    for: "account",
    summary:
      "For administrators: what a draft, or else the shadow, would have decided on the checks of all accounts",
    body: Type.Object({ document: Type.Optional(Document), days: Type.Optional(Type.Integer()) }),
    largeBody: true,
    async handle(request) {
      const { account, body, id } = request;
      if (!account.isAdmin) throw adminsOnly();
      const { live, shadow } = await deps.policies.show(account.id, id);
      const asked = body["days"] === undefined ? VERDICT_DAYS : numberField(body, "days");
      const days = Math.max(1, Math.min(VERDICT_DAYS, asked));
      const draft = await policyOf(request, deps, shadow ?? live);
      const report = await deps.backTestPolicy(accountKey(account.id), {
        live: await storedOf(request, deps, live),
        draft,
        days,
      });
      return report;
    },
  });

/** The document of the body, else a version of the policy. */
function policyOf(request: SignedInRequest, deps: Deps, version?: number): Promise<Policy> {
  const { document } = request.body;
  if (document === undefined) return storedOf(request, deps, version);
  const { premium } = deps.tiers[tierOf(request.account, deps.clock.nowMs())];
  const read = parsePolicy(document, { hasDomainAge: premium });
  return read.ok ? Promise.resolve(read.policy) : Promise.reject(badPolicy(read.mistakes));
}

async function storedOf(
  { account, id }: SignedInRequest,
  { policies }: Deps,
  version?: number,
): Promise<Policy> {
  const { document } = await policies.show(account.id, id, version);
  const read = parsePolicy(document, { hasDomainAge: true });
  if (!read.ok) throw badPolicy(read.mistakes);
  return read.policy;
}

const authorOf = ({ account }: SignedInRequest) => ({ account, author: account.email });

function documentOf({ body }: SignedInRequest): unknown {
  const { document } = body;
  if (document === undefined) throw badField('"document" must be a policy.');
  return document;
}

function versionOf(number: number): number {
  if (Number.isSafeInteger(number) && number > 0 && number < 1_000_000_000) return number;
  throw badField('"version" must be a whole number.');
}

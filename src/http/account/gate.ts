import { FEEDBACK_OUTCOMES, HOOK_SYSTEMS } from "../../core/policy/outcomes.ts";
import { LRUCache } from "lru-cache";
import type { Field } from "../field.ts";
import { tierOf } from "../../accounts/admission/tiers.ts";
import { accountKey } from "../../base/owner.ts";
import { adminsOnly, badField, badPolicy, notFound } from "../../base/refusals.ts";
import { readEntry, trimEntry } from "../../core/address/address.ts";
import { Type } from "../../core/json-schema.ts";
import { DEFAULT_NAME } from "../../core/policy/default-policy.ts";
import { wordsOf } from "../../core/policy/messages.ts";
import { parsePolicy, working } from "../../core/policy/parse-policy.ts";
import type { Policy } from "../../core/policy/policy.ts";
import { type Feedback, withDomain } from "../../gate/feedback.ts";
import {
  BackTestReport,
  HookSecret,
  HooksPage,
  HookTest,
  NewHook,
  OutcomeReport,
  Policies,
  PolicyPage,
  PROPOSAL_ANSWERS,
  type ProposalAnswer,
  Proposals,
  RuleCounts,
  SavedPolicy,
  ShadowReport,
  Waves,
} from "../../gate/gate-shapes.ts";
import { SYSTEMS } from "../../gate/hook-systems.ts";
import { OUTCOME_DAYS } from "../../gate/outcome-report.ts";
import { SHADOW_DAYS } from "../../gate/policies.ts";
import { mailboxId } from "../../gate/traffic.ts";
import { VERDICT_DAYS } from "../../lists/verdict-recorder.ts";
import { readFeedback, readSought } from "../api/feedback.ts";
import {
  type AccountContext,
  counted,
  type DashboardGate,
  type SignedInRequest,
} from "./context.ts";
import {
  account,
  type AccountRoute,
  admin,
  boundedNumber,
  noteOwn,
  optional,
  textField,
  textsField,
  wholeField,
  wordField,
} from "./route.ts";
import { entryRefusal } from "./rules.ts";
import { AccountDecisions, FoundMailbox, NewSecret, PolicyTests, Sentences } from "./shapes.ts";

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

function policyOf(
  request: SignedInRequest<{ readonly document: unknown }>,
  context: AccountContext,
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
  { policies }: AccountContext,
  version?: number,
): Promise<Policy> {
  const { document, mistakes = [] } = await policies.show(own.id, id, version);
  const policy = working(parsePolicy(document, { hasDomainAge: true }));
  if (policy === undefined) throw badPolicy(mistakes);
  return policy;
}

function versionOf(number = NaN): number {
  if (Number.isSafeInteger(number) && number > 0 && number < 1_000_000_000) return number;
  throw badField('"version" must be a whole number.');
}

export const policyRoutes: readonly AccountRoute[] = [
  account("GET policies", { answer: Policies }, async (request, { policies }) => ({
    policies: await policies.list(request.account.id),
  })),
  account("GET messages", { answer: Sentences }, ({ query: { language = "en" } }) =>
    wordsOf(language),
  ),
  account(
    "GET policies/:id",
    { answer: PolicyPage },
    ({ account: own, id, query: { version } }, { policies }) =>
      policies.show(own.id, id, version === undefined ? undefined : versionOf(Number(version))),
  ),
  account(
    "GET policies/:id/shadow",
    { answer: ShadowReport },
    ({ account: own, id, query }, { policies }) => {
      const days = boundedNumber(query["days"], { standard: 30, max: SHADOW_DAYS });
      return policies.shadowReport(own.id, id, days);
    },
  ),
  account(
    "GET policies/:id/counts",
    { answer: RuleCounts },
    ({ account: own, id, query }, { policies }) => {
      const days = boundedNumber(query["days"], { standard: 30, max: SHADOW_DAYS });
      return policies.ruleCounts(own.id, id, days);
    },
  ),
  account(
    "GET outcomes",
    { answer: OutcomeReport },
    ({ account: own, query }, { reportOutcomes }) =>
      reportOutcomes(own.id, boundedNumber(query["days"], { standard: 30, max: OUTCOME_DAYS })),
  ),
  account(
    "POST policies/:id",
    { body: { document: documentField }, answer: SavedPolicy, largeBody: true },
    (request, { policies }) => {
      const noted = policies.by(request.note);
      return noted.save(authorOf(request), request.id, request.body.document, "live");
    },
  ),
  account(
    "POST policies/:id/shadow",
    {
      body: { document: draftField, version: optional(wholeField) },
      answer: SavedPolicy,
      largeBody: true,
    },
    (request, { policies }) => {
      const { document, version } = request.body;
      const noted = policies.by(request.note);
      return document === undefined
        ? noted.setShadow(request.account.id, request.id, versionOf(version))
        : noted.save(authorOf(request), request.id, document, "shadow");
    },
  ),
  account(
    "POST policies/:id/promote",
    { answer: SavedPolicy },
    ({ account: own, id, note }, { policies }) => policies.by(note).promote(own.id, id),
  ),
  account("DELETE policies/:id/shadow", {}, async (request, { policies }) => {
    await policies.by(request.note).endShadow(request.account.id, request.id);
  }),
  account("DELETE policies/:id", {}, async (request, { policies }) => {
    await policies.by(request.note).remove(request.account.id, request.id);
  }),
  account(
    "POST policies/:id/test",
    {
      body: { entries: textsField(ENTRIES_MAX), document: draftField },
      answer: PolicyTests,
      largeBody: true,
    },
    async (request, context) => {
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
    {
      body: { document: draftField, days: optional(wholeField) },
      answer: BackTestReport,
      largeBody: true,
    },
    async (request, context) => {
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

const longText = textField(2_000);
const ANSWER = {
  domain: textField(255),
  answer: wordField(PROPOSAL_ANSWERS, `"answer" must be one of ${PROPOSAL_ANSWERS.join(", ")}.`),
};

/** Other words are refused as the API does it. */
const outcomeField: Field<string | undefined> = {
  ...optional(longText),
  schema: Type.Enum(FEEDBACK_OUTCOMES),
};

type Answering = SignedInRequest<{ readonly domain: string; readonly answer: ProposalAnswer }>;

async function checkProposed(domain: string, feedback: Feedback, accountId?: string) {
  const proposals = await feedback.proposals(accountId);
  if (!proposals.some((proposal) => proposal.domain === domain)) throw notFound();
}

async function answerOwn(
  request: Answering,
  { feedback, policies }: AccountContext,
): Promise<void> {
  const { account: own, note } = request;
  const { domain, answer } = request.body;
  await checkProposed(domain, feedback, own.id);
  if (answer !== "dismiss") {
    const { document } = await policies.show(own.id, DEFAULT_NAME);
    const by = { account: own, author: own.email };
    const changed = withDomain(document, domain, answer);
    await policies.by(note).save(by, DEFAULT_NAME, changed, "live");
  }
  await feedback.answered(domain, own.id);
  await noteOwn(request, { action: "feedback.answered", detail: `${answer} ${domain}` });
}

async function answerForAll(
  request: Answering,
  { feedback, operator }: AccountContext,
): Promise<void> {
  const { domain, answer } = request.body;
  await checkProposed(domain, feedback);
  if (answer !== "dismiss") {
    const details = { note: "From feedback", author: request.account.id };
    const saved = await operator.by(request.note).save(domain, answer, details);
    if (saved.kind !== "saved") throw entryRefusal(saved);
  }
  await feedback.answered(domain);
  await noteOwn(request, { action: "feedback.answered", detail: `${answer} ${domain}` });
}

export const feedbackRoutes: readonly AccountRoute[] = [
  account("GET decisions", { answer: AccountDecisions }, async (request, context) => {
    const { id, logsDecisions } = request.account;
    const sought = readSought((name) => request.query[name]);
    const page = await context.decisionLog.page(id, sought);
    if (sought.after === undefined) await noteReading(request);
    const named = page.decisions.flatMap(({ mailbox }) => mailbox?.id ?? []);
    const marks = await context.feedback.marks(id, [...new Set(named)]);
    const log = logsDecisions ? ("on" as const) : ("off" as const);
    return { log, ...page, marks: [...marks] };
  }),
  account("DELETE feedback/:id", {}, async (request, { feedback }) => {
    if (!(await feedback.takeBack(request.account.id, request.id))) throw notFound();
    await noteOwn(request, { action: "feedback.taken_back" });
  }),
  account(
    "POST decisions/find",
    { body: { email: longText }, answer: FoundMailbox },
    ({ account: own, body }, context) => {
      const entry = readEntry(trimEntry(body.email), "address");
      if (entry.kind !== "address") throw badField('"email" must be an email address.');
      return { mailbox: mailboxId(context.hash, own.id, entry.address) };
    },
  ),
  account(
    "POST feedback",
    {
      body: {
        email: optional(longText),
        mailbox: optional(longText),
        outcome: outcomeField,
        note: optional(longText),
      },
    },
    async (request, context) => {
      const given: Readonly<Record<string, string | undefined>> = request.body;
      const said = readFeedback((name) => given[name]);
      await counted(request, context, async (entrance) => {
        // As the API does: with the rate spent it costs a credit.
        if (entrance.creditsOnly !== undefined) await context.admission.charge(entrance, 0);
        await context.feedback.record(request.account.id, said);
      });
      await noteOwn(request, { action: "feedback.given", detail: said.outcome });
    },
  ),
  account("GET proposals", { answer: Proposals }, async (request, context) => ({
    proposals: await context.feedback.proposals(request.account.id),
  })),
  account("POST proposals", { body: ANSWER }, answerOwn),
  account("GET waves", { answer: Waves }, async ({ account: own }, { waves }) => ({
    waves: await waves.list(own.id),
  })),
  admin("GET admin/waves", { answer: Waves }, async (_request, { waves }) => ({
    waves: await waves.list(),
  })),
  admin("GET admin/proposals", { answer: Proposals }, async (_request, context) => ({
    proposals: await context.feedback.proposals(),
  })),
  admin("POST admin/proposals", { body: ANSWER }, answerForAll),
];

/** Browsers that read the log within the hour: the page follows it live. */
const readers = new LRUCache<string, true>({ max: 10_000, ttl: 3_600_000 });

async function noteReading(request: SignedInRequest): Promise<void> {
  if (readers.has(request.session.id)) return;
  readers.set(request.session.id, true);
  await noteOwn(request, { action: "decisions.read" });
}

const EXAMPLE = "jo@mailinator.com";

const systems = HOOK_SYSTEMS.map((id) => ({
  id,
  name: SYSTEMS[id].name,
  guide: `docs/hooks.md#${id}`,
  deadline_ms: SYSTEMS[id].deadlineMs,
}));

const shortText = optional(textField(600));

async function ownHook(
  { account: own, id }: SignedInRequest,
  hookService: DashboardGate["hookService"],
) {
  const hook = await hookService.find(id);
  if (hook?.account_id !== own.id) throw notFound();
  return hook;
}

export const hookRoutes: readonly AccountRoute[] = [
  account("GET hooks", { answer: HooksPage }, async (request, { hookService }) => ({
    systems,
    hooks: await hookService.list(request.account.id),
  })),
  account(
    "POST hooks",
    {
      body: {
        system: textField(100),
        policy: shortText,
        challenge: shortText,
        jwks_url: shortText,
      },
      answer: NewHook,
    },
    async (request, { hookService }) => {
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
  account(
    "POST hooks/:id/secret",
    { body: { secret: shortText }, answer: HookSecret },
    async (request, { hookService }) => {
      const hook = await ownHook(request, hookService);
      const secret = await hookService.setSecret(hook, request.body.secret);
      await noteOwn(request, { action: "hook.secret", detail: hook.system });
      return { secret };
    },
  ),
  account(
    "POST hooks/:id/test",
    { body: { email: optional(textField(300)) }, answer: HookTest },
    async (request, { hookService, hooks }) => {
      const hook = await ownHook(request, hookService);
      const sent = hookService.example(hook, request.body.email ?? EXAMPLE);
      const call = { body: Buffer.from(sent.body), headers: sent.headers };
      const reply = await hooks.answer(hook.id, call, {
        clientAddress: request.visitor.clientAddress,
        isSent: Promise.resolve(true),
      });
      if (reply === undefined) throw notFound();
      return { status: reply.status, body: reply.body ?? "" };
    },
  ),
  account("DELETE hooks/:id", {}, async (request, { hookService }) => {
    const hook = await ownHook(request, hookService);
    await hookService.remove(hook);
    await noteOwn(request, { action: "hook.removed", detail: hook.system });
  }),
];

export const tokenSecretRoute = account(
  "POST token-secret",
  { answer: NewSecret },
  async ({ account: { id }, note }, { tokens }) => ({
    secret: await tokens.renewSecret(id, note),
  }),
);

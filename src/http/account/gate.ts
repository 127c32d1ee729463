import { HOOK_SYSTEMS } from "../../core/policy/outcomes.ts";
import { LRUCache } from "lru-cache";
import { entriesUpTo } from "../../base/entries.ts";
import { tierOf } from "../../accounts/admission/tiers.ts";
import { badField, badPolicy, notFound } from "../../base/refusals.ts";
import { readEntry, trimEntry } from "../../core/address/address.ts";
import { wordsOf } from "../../core/policy/messages.ts";
import { parsePolicy, working } from "../../core/policy/parse-policy.ts";
import type { Policy } from "../../core/policy/policy.ts";
import {
  HookSecret,
  HooksPage,
  HookTest,
  NewHook,
  OutcomeReport,
  Policies,
  PolicyPage,
  RuleCounts,
  SavedPolicy,
  ShadowReport,
} from "../../gate/gate-shapes.ts";
import { SYSTEMS } from "../../gate/hook-systems.ts";
import { OUTCOME_DAYS } from "../../gate/outcomes.ts";
import { SHADOW_DAYS } from "../../gate/policies.ts";
import { mailboxId } from "../../gate/traffic-marks.ts";
import { readFeedback, readSought } from "../api/feedback.ts";
import {
  account,
  type AccountContext,
  type AccountRoute,
  boundedNumber,
  counted,
  type Reader,
  noteOwn,
  optional,
  textField,
  textsField,
  wholeField,
} from "./route.ts";
import { AccountDecisions, FoundMailbox, NewSecret, PolicyTests, Sentences } from "./shapes.ts";

const ENTRIES_MAX = 20;

/** A policy of any kind: it is parsed with the plan of its account. */
const draftField: Reader<unknown> = (value) => value;
const documentField: Reader<unknown> = (value) => {
  if (value === undefined) throw badField('"document" must be a policy.');
  return value;
};

const authorOf = ({ account: own }: AccountContext) => ({ account: own, author: own.email });

function policyOf(
  context: AccountContext<{ readonly document: unknown }>,
  version?: number,
): Promise<Policy> {
  const { document } = context.body;
  if (document === undefined) return storedOf(context, version);
  const { premium } = context.tiers[tierOf(context.account, context.clock.nowMs())];
  const read = parsePolicy(document, { hasDomainAge: premium });
  return read.ok ? Promise.resolve(read.policy) : Promise.reject(badPolicy(read.mistakes));
}

async function storedOf(
  { account: own, id, policies }: AccountContext,
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

const shadowDays = ({ query }: AccountContext): number =>
  boundedNumber(query["days"], { standard: 30, max: SHADOW_DAYS });

/** The policies, of which each change is noted. */
const noted = ({ policies, note }: AccountContext) => policies.by(note);

export const policyRoutes: readonly AccountRoute[] = [
  account("GET policies", { answer: Policies }, async ({ account: own, policies }) => ({
    policies: await policies.list(own.id),
  })),
  account("GET messages", { answer: Sentences }, ({ query: { language = "en" } }) =>
    wordsOf(language),
  ),
  account("GET policies/:id", { answer: PolicyPage }, ({ account: own, id, query, policies }) => {
    const { version } = query;
    return policies.show(own.id, id, version === undefined ? version : versionOf(Number(version)));
  }),
  account("GET policies/:id/shadow", { answer: ShadowReport }, (context) =>
    context.policies.shadowReport(context.account.id, context.id, shadowDays(context)),
  ),
  account("GET policies/:id/counts", { answer: RuleCounts }, (context) =>
    context.policies.ruleCounts(context.account.id, context.id, shadowDays(context)),
  ),
  account("GET outcomes", { answer: OutcomeReport }, ({ account: own, query, reportOutcomes }) =>
    reportOutcomes(own.id, boundedNumber(query["days"], { standard: 30, max: OUTCOME_DAYS })),
  ),
  account(
    "POST policies/:id",
    { body: { document: documentField }, answer: SavedPolicy, largeBody: true },
    (context) => noted(context).save(authorOf(context), context.id, context.body.document, "live"),
  ),
  account(
    "POST policies/:id/shadow",
    {
      body: { document: draftField, version: optional(wholeField) },
      answer: SavedPolicy,
      largeBody: true,
    },
    (context) => {
      const { id, body } = context;
      return body.document === undefined
        ? noted(context).setShadow(context.account.id, id, versionOf(body.version))
        : noted(context).save(authorOf(context), id, body.document, "shadow");
    },
  ),
  account("POST policies/:id/promote", { answer: SavedPolicy }, (context) =>
    noted(context).promote(context.account.id, context.id),
  ),
  account("DELETE policies/:id/shadow", {}, async (context) => {
    await noted(context).endShadow(context.account.id, context.id);
  }),
  account("DELETE policies/:id", {}, async (context) => {
    await noted(context).remove(context.account.id, context.id);
  }),
  account(
    "POST policies/:id/test",
    {
      body: { entries: textsField(ENTRIES_MAX), document: draftField },
      answer: PolicyTests,
      largeBody: true,
    },
    async (context) => {
      const { entries } = context.body;
      if (entries.length === 0) throw badField('"entries" must have at least one entry.');
      const policy = await policyOf(context);
      return counted(context, async (admitted) => {
        const receipt = await context.admission.charge(admitted, entries.length);
        try {
          const { premium } = context.tiers[admitted.caller.tier];
          return { results: await context.testPolicy(policy, entries, { premium }) };
        } catch (fault) {
          await receipt.refund();
          throw fault;
        }
      });
    },
  ),
];

const longText = textField(2_000);
export const feedbackRoutes: readonly AccountRoute[] = [
  account("GET decisions", { answer: AccountDecisions }, async (context) => {
    const { id, logsDecisions } = context.account;
    const sought = readSought((name) => context.query[name]);
    const page = await context.decisionLog.page(id, sought);
    if (sought.after === undefined) await noteReading(context);
    const named = page.decisions.flatMap(({ mailbox }) => mailbox?.id ?? []);
    const marks = await context.feedback.marks(id, [...new Set(named)]);
    const log = logsDecisions ? ("on" as const) : ("off" as const);
    return { log, ...page, marks: [...marks] };
  }),
  account("DELETE feedback/:id", {}, async (context) => {
    if (!(await context.feedback.takeBack(context.account.id, context.id))) throw notFound();
    await noteOwn(context, { action: "feedback.taken_back" });
  }),
  account(
    "POST decisions/find",
    { body: { email: longText }, answer: FoundMailbox },
    ({ account: own, body, hash }) => {
      const entry = readEntry(trimEntry(body.email), "address");
      if (entry.kind !== "address") throw badField('"email" must be an email address.');
      return { mailbox: mailboxId(hash, own.id, entry.address) };
    },
  ),
  account(
    "POST feedback",
    {
      body: {
        email: optional(longText),
        mailbox: optional(longText),
        outcome: optional(longText),
        note: optional(longText),
      },
    },
    async (context) => {
      const given: Readonly<Record<string, string | undefined>> = context.body;
      const said = readFeedback((name) => given[name]);
      await counted(context, async (admitted) => {
        // As the API does: with the rate spent it costs a credit.
        if (admitted.creditsOnly !== undefined) await context.admission.charge(admitted, 0);
        await context.feedback.record(context.account.id, said);
      });
      await noteOwn(context, { action: "feedback.given", detail: said.outcome });
    },
  ),
];

/** Browsers that read the log within the hour: the page follows it live. */
const readers = new LRUCache<string, true>({ ...entriesUpTo(10_000), ttl: 3_600_000 });

async function noteReading(context: AccountContext): Promise<void> {
  if (readers.has(context.session.id)) return;
  readers.set(context.session.id, true);
  await noteOwn(context, { action: "decisions.read" });
}

const EXAMPLE = "jo@mailinator.com";

const systems = HOOK_SYSTEMS.map((id) => ({
  id,
  name: SYSTEMS[id].name,
  guide: `docs/hooks.md#${id}`,
  deadline_ms: SYSTEMS[id].deadlineMs,
}));

const shortText = optional(textField(600));

async function ownHook({ account: own, id, hookService }: AccountContext) {
  const hook = await hookService.find(id);
  if (hook?.account_id !== own.id) throw notFound();
  return hook;
}

export const hookRoutes: readonly AccountRoute[] = [
  account("GET hooks", { answer: HooksPage }, async ({ account: own, hookService }) => ({
    systems,
    hooks: await hookService.list(own.id),
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
    async (context) => {
      const { system, policy, challenge, jwks_url: jwksUrl } = context.body;
      const made = await context.hookService.create(context.account.id, {
        system,
        ...(policy !== undefined && { policy }),
        ...(challenge !== undefined && { challenge }),
        ...(jwksUrl !== undefined && { jwksUrl }),
      });
      await noteOwn(context, { action: "hook.created", detail: made.system });
      return made;
    },
  ),
  account(
    "POST hooks/:id/secret",
    { body: { secret: shortText }, answer: HookSecret },
    async (context) => {
      const hook = await ownHook(context);
      const secret = await context.hookService.setSecret(hook, context.body.secret);
      await noteOwn(context, { action: "hook.secret", detail: hook.system });
      return { secret };
    },
  ),
  account(
    "POST hooks/:id/test",
    { body: { email: optional(textField(300)) }, answer: HookTest },
    async (context) => {
      const hook = await ownHook(context);
      const sent = context.hookService.example(hook, context.body.email ?? EXAMPLE);
      const call = { body: Buffer.from(sent.body), headers: sent.headers };
      const reply = await context.hooks.answer(hook.id, call, {
        clientAddress: context.visitor.clientAddress,
        isSent: Promise.resolve(true),
      });
      if (reply === undefined) throw notFound();
      return { status: reply.status, body: reply.body ?? "" };
    },
  ),
  account("DELETE hooks/:id", {}, async (context) => {
    const hook = await ownHook(context);
    await context.hookService.remove(hook);
    await noteOwn(context, { action: "hook.removed", detail: hook.system });
  }),
];

export const tokenSecretRoute = account(
  "POST token-secret",
  { answer: NewSecret },
  async ({ account: { id }, note, tokens }) => ({
    secret: await tokens.renewSecret(id, note),
  }),
);

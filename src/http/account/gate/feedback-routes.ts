import { readEntry, trimEntry } from "../../../core/address/address.ts";
import { Type } from "../../../core/json-schema.ts";
import { DEFAULT_NAME } from "../../../core/policy/default-policy.ts";
import type { Audit } from "../../../accounts/audit.ts";
import { badField, notFound } from "../../../base/refusals.ts";
import { auditedEntries, auditedPolicies } from "../../../gate/audited.ts";
import type { DecisionLog } from "../../../gate/decision-log.ts";
import { type Feedback, withDomain } from "../../../gate/feedback.ts";
import {
  FEEDBACK_OUTCOMES,
  PROPOSAL_ANSWERS,
  type ProposalAnswer,
} from "../../../gate/feedback-shapes.ts";
import type { PolicyService } from "../../../gate/policies.ts";
import type { RuleService } from "../../../lists/rules/rules.ts";
import { type AccountHash, mailboxId } from "../../../gate/traffic.ts";
import { readFeedback, readSought } from "../../api/feedback.ts";
import { entryRefusal } from "../admin/rule-fields.ts";
import { textField } from "../fields.ts";
import { noteOf, noteOwn } from "../note.ts";
import { type AccountRoute, answering, done, type SignedInRequest } from "../route.ts";
import { AccountDecisions, FoundMailbox, Proposals } from "../shapes.ts";

export interface FeedbackDeps {
  readonly feedback: Feedback;
  readonly decisionLog: Pick<DecisionLog, "page">;
  readonly hash: AccountHash;
  readonly policies: PolicyService;
}

interface Deps extends FeedbackDeps {
  readonly operator: RuleService;
  readonly audit: Audit;
}

const ENTRY_MAX = 2_000;
const DOMAIN_MAX = 255;
const ANSWER = Type.Object({ domain: Type.String(), answer: Type.Enum(PROPOSAL_ANSWERS) });

/** The decision log, what became of sign-ups, and what is proposed because of it. */
export const feedbackRoutes = (deps: Deps): readonly AccountRoute[] => [
  ...logRoutes(deps),
  feedbackRoute(deps),
  ...proposalRoutes(deps),
];

const logRoutes = ({ decisionLog, hash }: Deps): readonly AccountRoute[] => [
  answering(AccountDecisions, {
    method: "GET",
    path: "decisions",
    for: "account",
    summary:
      "The decision log, newest first; `decision`, `reason`, `domain`, `mailbox`, `form`, `key`, `after`, `limit`",
    async handle({ account, query }) {
      const page = await decisionLog.page(
        account.id,
        readSought((name) => query[name]),
      );
      return { log: account.logsDecisions ? ("on" as const) : ("off" as const), ...page };
    },
  }),
  answering(FoundMailbox, {
    method: "POST",
    path: "decisions/find",
    for: "account",
    summary: "The id under which the log has the mailbox of an address, which is not stored",
    body: Type.Object({ email: Type.String() }),
    handle({ account, body }) {
      const entry = readEntry(trimEntry(textField(body, "email", ENTRY_MAX)), "address");
      if (entry.kind !== "address") throw badField('"email" must be an email address.');
      return Promise.resolve({ mailbox: mailboxId(hash, account.id, entry.address) });
    },
  }),
];

const feedbackRoute = ({ feedback }: Deps): AccountRoute => ({
  method: "POST",
  path: "feedback",
  for: "account",
  summary: "Say what became of a sign-up, by `email` or by the `mailbox` of a decision",
  body: Type.Object({
    email: Type.Optional(Type.String()),
    mailbox: Type.Optional(Type.String()),
    outcome: Type.Enum(FEEDBACK_OUTCOMES),
    note: Type.Optional(Type.String()),
  }),
  async handle({ account, body }) {
    const field = (name: string): string | undefined =>
      body[name] === undefined ? undefined : textField(body, name, ENTRY_MAX);
    await feedback.record(account.id, readFeedback(field));
    return done;
  },
});

const proposalRoutes = (deps: Deps): readonly AccountRoute[] => [
  answering(Proposals, {
    method: "GET",
    path: "proposals",
    for: "account",
    summary: "Domains that the account's feedback proposes to deny or to allow",
    handle: async ({ account }) => ({ proposals: await deps.feedback.proposals(account.id) }),
  }),
  {
    method: "POST",
    path: "proposals",
    for: "account",
    summary: "Allow or deny a proposed domain by a rule of the policy `default`, or dismiss it",
    body: ANSWER,
    handle: (request) => answerOwn(request, deps),
  },
  answering(Proposals, {
    method: "GET",
    path: "admin/proposals",
    for: "admin",
    summary: "Domains that the feedback of all accounts proposes to deny or to allow",
    handle: async () => ({ proposals: await deps.feedback.proposals() }),
  }),
  {
    method: "POST",
    path: "admin/proposals",
    for: "admin",
    summary:
      "Allow or deny a proposed domain for everybody by a rule of the operator, or dismiss it",
    body: ANSWER,
    handle: (request) => answerForAll(request, deps),
  },
];

interface Answer {
  readonly domain: string;
  readonly answer: ProposalAnswer;
}

/** Only what is proposed can be answered. */
async function answerIn(
  { body }: SignedInRequest,
  feedback: Feedback,
  accountId?: string,
): Promise<Answer> {
  const domain = textField(body, "domain", DOMAIN_MAX);
  const word = textField(body, "answer", 20);
  const answer = PROPOSAL_ANSWERS.find((known) => known === word);
  if (answer === undefined)
    throw badField(`"answer" must be one of ${PROPOSAL_ANSWERS.join(", ")}.`);
  const proposals = await feedback.proposals(accountId);
  if (!proposals.some((proposal) => proposal.domain === domain)) throw notFound();
  return { domain, answer };
}

async function answerOwn(request: SignedInRequest, deps: Deps) {
  const { feedback, policies, audit } = deps;
  const { account } = request;
  const { domain, answer } = await answerIn(request, feedback, account.id);
  if (answer !== "dismiss") {
    const { document } = await policies.show(account.id, DEFAULT_NAME);
    const noted = auditedPolicies(policies, noteOf(request, audit));
    const by = { account, author: account.email };
    await noted.save(by, DEFAULT_NAME, withDomain(document, domain, answer), "live");
  }
  await feedback.answered(domain, account.id);
  await noteOwn(request, audit, { action: "feedback.answered", detail: `${answer} ${domain}` });
  return done;
}

async function answerForAll(request: SignedInRequest, { feedback, operator, audit }: Deps) {
  const { domain, answer } = await answerIn(request, feedback);
  if (answer !== "dismiss") {
    const details = { note: "From feedback", author: request.account.id };
    const noted = auditedEntries(operator, noteOf(request, audit));
    const saved = await noted.save(domain, answer, details);
    if (saved.kind !== "saved") throw entryRefusal(saved);
  }
  await feedback.answered(domain);
  await noteOwn(request, audit, { action: "feedback.answered", detail: `${answer} ${domain}` });
  return done;
}

import { badField, notFound } from "../../base/refusals.ts";
import { readEntry, trimEntry } from "../../core/address/address.ts";
import { Type } from "../../core/json-schema.ts";
import { DEFAULT_NAME } from "../../core/policy/default-policy.ts";
import { auditedEntries, auditedPolicies } from "../../gate/audited.ts";
import { type Feedback, withDomain } from "../../gate/feedback.ts";
import {
  FEEDBACK_OUTCOMES,
  PROPOSAL_ANSWERS,
  type ProposalAnswer,
  Proposals,
} from "../../gate/gate-shapes.ts";
import { mailboxId } from "../../gate/traffic.ts";
import { readFeedback, readSought } from "../api/feedback.ts";
import type { DashboardContext, DashboardGate } from "./context.ts";
import {
  account,
  type AccountRoute,
  admin,
  type Field,
  noteOwn,
  optional,
  type SignedInRequest,
  textField,
  wordField,
} from "./route.ts";
import { entryRefusal } from "./rules.ts";
import { AccountDecisions, FoundMailbox } from "./shapes.ts";

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

type Context = Pick<DashboardContext, "operator"> &
  Pick<DashboardGate, "decisionLog" | "feedback" | "hash" | "policies">;

export const feedbackRoutes = (context: Context): readonly AccountRoute[] => [
  account(
    "GET decisions",
    "The decision log, newest first; `decision`, `reason`, `domain`, `mailbox`, `form`, `key`, `after`, `limit`",
    { answer: AccountDecisions },
    async ({ account: { id, logsDecisions }, query }) => {
      const sought = readSought((name) => query[name]);
      const page = await context.decisionLog.page(id, sought);
      return { log: logsDecisions ? ("on" as const) : ("off" as const), ...page };
    },
  ),
  account(
    "POST decisions/find",
    "The id under which the log has the mailbox of an address, which is not stored",
    { body: { email: longText }, answer: FoundMailbox },
    ({ account: own, body }) => {
      const entry = readEntry(trimEntry(body.email), "address");
      if (entry.kind !== "address") throw badField('"email" must be an email address.');
      return { mailbox: mailboxId(context.hash, own.id, entry.address) };
    },
  ),
  account(
    "POST feedback",
    "Say what became of a sign-up, by `email` or by the `mailbox` of a decision",
    {
      body: {
        email: optional(longText),
        mailbox: optional(longText),
        outcome: outcomeField,
        note: optional(longText),
      },
    },
    async ({ account: own, body }) => {
      const given: Readonly<Record<string, string | undefined>> = body;
      await context.feedback.record(
        own.id,
        readFeedback((name) => given[name]),
      );
    },
  ),
  ...proposalRoutes(context),
];

const proposalRoutes = (context: Context): readonly AccountRoute[] => [
  account(
    "GET proposals",
    "Domains that the account's feedback proposes to deny or to allow",
    { answer: Proposals },
    async (request) => ({ proposals: await context.feedback.proposals(request.account.id) }),
  ),
  account(
    "POST proposals",
    "Allow or deny a proposed domain by a rule of the policy `default`, or dismiss it",
    { body: ANSWER },
    (request) => answerOwn(request, context),
  ),
  admin(
    "GET admin/proposals",
    "Domains that the feedback of all accounts proposes to deny or to allow",
    { answer: Proposals },
    async () => ({ proposals: await context.feedback.proposals() }),
  ),
  admin(
    "POST admin/proposals",
    "Allow or deny a proposed domain for everybody by a rule of the operator, or dismiss it",
    { body: ANSWER },
    (request) => answerForAll(request, context),
  ),
];

type Answering = SignedInRequest<{ readonly domain: string; readonly answer: ProposalAnswer }>;

async function checkProposed(domain: string, feedback: Feedback, accountId?: string) {
  const proposals = await feedback.proposals(accountId);
  if (!proposals.some((proposal) => proposal.domain === domain)) throw notFound();
}

async function answerOwn(request: Answering, { feedback, policies }: Context): Promise<void> {
  const { account: own, note } = request;
  const { domain, answer } = request.body;
  await checkProposed(domain, feedback, own.id);
  if (answer !== "dismiss") {
    const { document } = await policies.show(own.id, DEFAULT_NAME);
    const by = { account: own, author: own.email };
    const changed = withDomain(document, domain, answer);
    await auditedPolicies(policies, note).save(by, DEFAULT_NAME, changed, "live");
  }
  await feedback.answered(domain, own.id);
  await noteOwn(request, { action: "feedback.answered", detail: `${answer} ${domain}` });
}

async function answerForAll(request: Answering, { feedback, operator }: Context): Promise<void> {
  const { domain, answer } = request.body;
  await checkProposed(domain, feedback);
  if (answer !== "dismiss") {
    const details = { note: "From feedback", author: request.account.id };
    const saved = await auditedEntries(operator, request.note).save(domain, answer, details);
    if (saved.kind !== "saved") throw entryRefusal(saved);
  }
  await feedback.answered(domain);
  await noteOwn(request, { action: "feedback.answered", detail: `${answer} ${domain}` });
}

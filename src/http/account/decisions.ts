import { LRUCache } from "lru-cache";
import { entriesUpTo } from "../../base/entries.ts";
import { notFound, notNow } from "../../base/refusals.ts";
import { readEntry, trimEntry } from "../../core/address/address.ts";
import { type Signal, SIGNALS, signalTitle } from "../../core/evidence/signals.ts";
import { FEEDBACK_OUTCOMES } from "../../core/policy/outcomes.ts";
import type { SoughtDecisions } from "../../gate/decision-log.ts";
import type { LoggedDecision } from "../../gate/gate-shapes.ts";
import { mailboxId } from "../../gate/traffic-marks.ts";
import { readFeedback, readSought } from "../api/feedback.ts";
import { csvPages } from "../api/results.ts";
import {
  account,
  inRate,
  type DashboardServices,
  file,
  noteOwn,
  optional,
  type SignedInRequest,
  bodyText,
  wordField,
} from "./route.ts";

/** The decision log, and what became of those whom it is about. */

/** What a typed address, domain or value of `count_by` is called in the log, which has none of them in clear. */
async function foundIn({ gate }: DashboardServices, accountId: string, text: string) {
  const entry = readEntry(text, "either");
  if (entry.kind === "address") {
    return { by: "mailbox", value: mailboxId(gate.hash, accountId, entry.address) } as const;
  }
  const source = await gate.decisionLog.sourceOf(accountId, text);
  if (source !== undefined) return { by: "source", value: source } as const;
  if (entry.kind === "domain" && entry.domain.registrableDomain !== undefined) {
    return { by: "domain", value: entry.domain.registrableDomain } as const;
  }
  throw notNow("No decision of the last 7 days has this.");
}

function marksOf(
  { gate }: DashboardServices,
  accountId: string,
  decisions: readonly LoggedDecision[],
) {
  const named = decisions.flatMap(({ mailbox }) => mailbox?.id ?? []);
  return gate.feedback.marks(accountId, [...new Set(named)]);
}

const wordsOf = (signal: string): string =>
  Object.hasOwn(SIGNALS, signal) ? signalTitle(signal as Signal).toLowerCase() : signal;

const CSV_ROWS = 1_000;

/** Every decision that is sought, newest first. */
const csvOf = (services: DashboardServices, accountId: string, sought: SoughtDecisions) =>
  csvPages([...CSV_COLUMNS.map(([name]) => name), "feedback"], async (after) => {
    const order = { ...sought, limit: CSV_ROWS, after };
    const { decisions, next } = await services.gate.decisionLog.page(accountId, order);
    const marks = await marksOf(services, accountId, decisions);
    const rows = decisions.map((row) => [
      ...CSV_COLUMNS.map(([, cell]) => cell(row) ?? ""),
      marks.get(row.mailbox?.id ?? "") ?? "",
    ]);
    return { rows, next };
  });

type CsvColumn = readonly [name: string, cell: (row: LoggedDecision) => string | null | undefined];

const CSV_COLUMNS: readonly CsvColumn[] = [
  ["time", ({ time }) => time],
  ["decision", ({ decision }) => decision],
  ["reason", ({ reason }) => reason],
  ["domain", ({ registrable_domain: domain }) => domain],
  ["mailbox", ({ mailbox }) => mailbox?.id],
  ["shape", ({ shape }) => shape],
  ["sources", ({ sources }) => sources.map(({ name, id }) => `${name}:${id}`).join(" ")],
  ["for", (row) => row.for],
  ["form", ({ form }) => form],
  ["key", ({ key }) => key],
  ["policy", ({ policy }) => policy.name],
  ["version", ({ policy }) => String(policy.version)],
  ["rule", ({ rule }) => (rule === null ? "" : String(rule + 1))],
  ["complete", ({ complete }) => String(complete)],
];

const soughtIn = ({ query }: SignedInRequest): SoughtDecisions => readSought((name) => query[name]);

const longText = bodyText(2_000);
const oneOf = <const T extends string>(name: string, words: readonly T[]) =>
  wordField(words, `"${name}" is one of ${words.join(", ")}.`);

export const decisionRoutes = [
  account("GET decisions", {}, async (services, request) => {
    const { id, logsDecisions } = request.account;
    const sought = soughtIn(request);
    const page = await services.gate.decisionLog.page(id, sought);
    if (sought.after === undefined) await noteReading(request);
    const marks = await marksOf(services, id, page.decisions);
    const marked = [...marks].map(([mailbox, outcome]) => ({ mailbox, outcome }));
    const decisions = page.decisions.map((row) => ({ ...row, signals: row.signals.map(wordsOf) }));
    const log = logsDecisions ? ("on" as const) : ("off" as const);
    return { log, ...page, decisions, marks: marked };
  }),
  account("GET decisions/groups", {}, ({ gate }, { account: own }) =>
    gate.decisionLog.groups(own.id),
  ),
  account("GET decisions/csv", {}, (services, request) => {
    const chunks = csvOf(services, request.account.id, soughtIn(request));
    return file("gatepost-decisions.csv", "text/csv; charset=utf-8", chunks);
  }),
  account(
    "POST decisions/report",
    {
      body: {
        by: oneOf("by", ["domain", "mailbox", "source", "shape"]),
        value: longText,
        outcome: oneOf("outcome", FEEDBACK_OUTCOMES),
      },
    },
    async (services, request) => {
      const { by, value, outcome } = request.body;
      const { id } = request.account;
      const { decisionLog, feedback } = services.gate;
      const sought = readSought((name) => (name === by ? value : undefined));
      const mailboxes = await decisionLog.mailboxes(id, sought);
      const reports = await inRate(services, request, () =>
        feedback.recordAll(id, mailboxes, outcome),
      );
      await noteOwn(request, { action: "feedback.given", detail: `${outcome}, all of one ${by}` });
      return { ...reports, mailboxes: mailboxes.size };
    },
  ),
  account(
    "POST decisions/take-back",
    { body: { first: longText, last: longText } },
    async ({ gate }, request) => {
      const { first, last } = request.body;
      await gate.feedback.takeBackAll(request.account.id, first, last);
      await noteOwn(request, { action: "feedback.taken_back" });
    },
  ),
  account("POST decisions/find", { body: { text: longText } }, (services, request) =>
    foundIn(services, request.account.id, trimEntry(request.body.text)),
  ),
  account("DELETE feedback/:id", {}, async ({ gate }, request) => {
    if (!(await gate.feedback.takeBack(request.account.id, request.id))) throw notFound();
    await noteOwn(request, { action: "feedback.taken_back" });
  }),
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
    async (services, request) => {
      const given: Readonly<Record<string, string | undefined>> = request.body;
      const feedback = readFeedback((name) => given[name]);
      await inRate(services, request, async (admitted) => {
        // As the API does: with the rate spent it costs a credit.
        if (admitted.creditsOnly !== undefined) await services.admission.charge(admitted, 0);
        await services.gate.feedback.record(request.account.id, feedback);
      });
      await noteOwn(request, { action: "feedback.given", detail: feedback.outcome });
    },
  ),
];

/** Browsers that read the log within the hour: the page follows it live. */
const readers = new LRUCache<string, true>({ ...entriesUpTo(10_000), ttl: 3_600_000 });

async function noteReading(request: SignedInRequest): Promise<void> {
  if (readers.has(request.session.id)) return;
  readers.set(request.session.id, true);
  await noteOwn(request, { action: "decisions.read" });
}

import { LATENCY_EDGES_MS } from "../../accounts/admission/usage.ts";
import { missingParameter, notFound } from "../../base/refusals.ts";
import { trimEntry } from "../../core/address/address.ts";
import { auditedSwitches } from "../../gate/audited.ts";
import { CheckStep } from "../../check/check-shapes.ts";
import { countedLines, type DashboardContext } from "./context.ts";
import { ownAudit, shownAccount, shownCredit, shownSession } from "./present.ts";
import {
  account,
  type AccountRequest,
  type AccountRoute,
  boundedNumber,
  emailField,
  everyone,
  file,
  noteOwn,
  passwordField,
  type SignedInRequest,
  textField,
  textsField,
  wordField,
} from "./route.ts";
import { Allowance, AuditEntries, Credits, KnownSignIns, Usage } from "./shapes.ts";

const ROWS_MAX = 200;
const USAGE_DAYS = { standard: 30, max: 400 };

export const ownRoutes = (context: DashboardContext): readonly AccountRoute[] => [
  everyone(
    "POST check",
    "Check one entry for one unit, a visitor within the anonymous limits: a line with the core facts, then a line with everything",
    { body: { entry: textField(2_000), features: textsField(20) }, lines: CheckStep },
    (request) => {
      const entry = trimEntry(request.body.entry);
      if (entry === "") throw missingParameter("entry");
      return countedLines(request, context, (entrance) =>
        context.check(entrance, entry, request.body.features),
      );
    },
  ),
  ...figureRoutes(context),
  ...sessionRoutes(context),
  ...changeRoutes(context),
  switchRoute(
    "traffic",
    "Count mailboxes and domains in the account's own decisions; off deletes the counts",
    context,
  ),
  switchRoute(
    "decision-log",
    "Keep the last decisions to be read, without addresses; off deletes them",
    context,
  ),
];

const figureRoutes = (context: DashboardContext): readonly AccountRoute[] => [
  account("GET allowance", "What is left of the plan", { answer: Allowance }, (request) =>
    context.usage.allowance(request.account),
  ),
  account(
    "GET usage",
    "Units, requests and latency by day; `days` of them",
    { answer: Usage },
    async ({ account: own, query }) => ({
      days: await context.usage.days(own, boundedNumber(query["days"], USAGE_DAYS)),
      hours: await context.hours.today(own.id),
      latency_edges_ms: LATENCY_EDGES_MS,
      allowance: await context.usage.allowance(own),
    }),
  ),
  account(
    "GET credits",
    "Balance and the newest movements",
    { answer: Credits },
    async ({ account: { id, creditBalance: balance } }) => ({
      balance,
      entries: (await context.credits.entries(id, ROWS_MAX)).map(shownCredit),
    }),
  ),
  account(
    "GET activity",
    "What was changed in the account",
    { answer: AuditEntries },
    async ({ account: { id } }) => ({
      entries: (await context.auditLog.ofAccount(id, ROWS_MAX)).map(ownAudit),
    }),
  ),
];

const sessionRoutes = ({ sessions, clock }: DashboardContext): readonly AccountRoute[] => [
  account(
    "GET sessions",
    "Browsers that are signed in",
    { answer: KnownSignIns },
    async ({ account: { id }, session }) => {
      const known = await sessions.list(id, clock.nowMs());
      return { sessions: known.map((one) => shownSession(one, session.id)) };
    },
  ),
  account("DELETE sessions", "End all sessions but this one", {}, async (request) => {
    await sessions.endAll(request.account.id, request.session.id);
    await noteOwn(request, { action: "session.revoked", detail: "everywhere else" });
  }),
  account("DELETE sessions/:id", "End one session", {}, async (request) => {
    if (!(await sessions.end(request.account.id, request.id))) throw notFound();
    await noteOwn(request, { action: "session.revoked" });
  }),
];

const changeRoutes = ({ own }: DashboardContext): readonly AccountRoute[] => [
  account(
    "POST password",
    "Change the password; all other sessions end",
    { body: { current_password: passwordField, new_password: passwordField } },
    async (request) => {
      const { current_password: current, new_password: next } = request.body;
      await own.changePassword(request, { current, next }, request.visitor);
    },
  ),
  account(
    "POST email",
    "Change the address that the account signs in with",
    { body: { current_password: passwordField, email: emailField } },
    async (request) => {
      const { current_password: password, email } = request.body;
      await own.changeEmail(request, { password, email }, request.visitor);
    },
  ),
  account(
    "POST delete",
    "Erase the account and all that is kept under it",
    { body: { current_password: passwordField } },
    async (request) => {
      await own.erase(request, request.body.current_password, request.visitor);
      return { cookie: "" };
    },
  ),
];

const stateField = wordField(["on", "off"], '"state" must be "on" or "off".');

const switchRoute = (
  name: "traffic" | "decision-log",
  summary: string,
  context: DashboardContext,
): AccountRoute =>
  account(`POST ${name}`, summary, { body: { state: stateField } }, async (request) => {
    const switches = auditedSwitches(context.switches, request.note);
    const change = name === "traffic" ? switches.switchTraffic : switches.switchLog;
    await change(request.account.id, request.body.state);
  });

/** What the export holds: the answers of these routes, where the server has them. */
const EXPORTED = [
  "keys",
  "usage",
  "credits",
  "activity",
  "sessions",
  "policies",
  "outcomes",
  "decisions",
  "hooks",
  "webhook",
  "webhook/deliveries",
];

export function exportRoute(routes: readonly AccountRoute[]): AccountRoute {
  const read = (request: SignedInRequest, path: string, id = ""): unknown => {
    const asked: AccountRequest = { ...request, id, query: { days: "400" } };
    return routes.find((one) => one.method === "GET" && one.path === path)?.handle(asked);
  };
  return account(
    "GET export",
    "All that is kept of the account, as a JSON file without secrets",
    {},
    async (request) => {
      const data: Record<string, unknown> = { account: shownAccount(request.account) };
      for (const path of EXPORTED) data[path] = await read(request, path);
      const { policies = [] } = (data["policies"] ?? {}) as { policies?: { name: string }[] };
      data["policy documents"] = await Promise.all(
        policies.map(({ name }) => read(request, "policies/:id", name)),
      );
      await noteOwn(request, { action: "account.exported" });
      return file("gatepost-export.json", "application/json", once(JSON.stringify(data, null, 2)));
    },
  );
}

async function* once(text: string): AsyncGenerator<string> {
  yield await Promise.resolve(text);
}

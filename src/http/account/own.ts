import { accountEmail } from "../../accounts/accounts.ts";
import { EMAIL_ASKED } from "../../accounts/audit.ts";
import { keyJson } from "../../accounts/key-json.ts";
import type { ApiKey } from "../../accounts/key-store.ts";
import type { StartedSession } from "../../accounts/sign-in/sign-ins.ts";
import { badField, missingParameter, notFound } from "../../base/refusals.ts";
import { trimEntry } from "../../core/address/address.ts";
import { isoTime } from "../../core/calendar.ts";
import type { WebhookDeliveryRow } from "../../store/schema.ts";
import { deliveryRow } from "../../webhooks/webhook-sender.ts";
import { WEBHOOK_EVENTS } from "../../webhooks/webhooks-store.ts";
import { ownAudit, shownAccount, shownCredit, shownSession } from "./present.ts";
import {
  account,
  AccountReply,
  type AccountRequest,
  type AccountRoute,
  boundedNumber,
  countedLines,
  type DashboardServices,
  emailField,
  everyone,
  type Reader,
  file,
  leaving,
  noteOwn,
  optional,
  passwordField,
  type SignedInRequest,
  bodyText,
  textsField,
  wholeField,
  wordField,
} from "./route.ts";

const CREDENTIALS = { email: emailField, password: passwordField };

const codeField = bodyText(100);

export const signInRoutes = [
  everyone("GET session", { withoutStore: true }, async (services, request) => {
    const { signUps, info, accountLists } = services;
    const { known, claimed } = request;
    return {
      signup: await signUps.mode(),
      public_url: info.publicUrl(),
      version: info.version,
      list_hours: accountLists.lifeMs / 3_600_000,
      ...(known !== undefined && { account: shownAccount(known.account) }),
      // Whom the proxy named, and the service did not let in by that.
      ...(known === undefined && claimed !== undefined && { proxy_email: claimed }),
    };
  }),
  everyone("GET plans", {}, ({ tiers }) => ({
    plans: (["anonymous", "new_free", "free"] as const).map((name) => {
      const { bulkLimit, daily } = tiers[name];
      return { name, daily, bulk_limit: bulkLimit };
    }),
  })),
  everyone("GET front", {}, ({ frontPage }) => frontPage()),
  everyone("POST sign-up", { body: CREDENTIALS }, ({ signUp }, { body, visitor }) =>
    signUp(body.email, body.password, visitor),
  ),
  everyone("GET setup", {}, async ({ setUp }) => ({ open: await setUp.isOpen() })),
  everyone(
    "POST setup",
    { body: { token: bodyText(100), ...CREDENTIALS } },
    async ({ setUp }, { body: { token, ...credentials }, visitor }) =>
      signedIn(await setUp.finish(token, credentials, visitor)),
  ),
  everyone(
    "POST new-password",
    { body: { token: bodyText(1_000), password: passwordField } },
    ({ resetLinks }, { body, visitor }) => resetLinks.use(body.token, body.password, visitor),
  ),
  everyone(
    "POST sign-in",
    { body: { ...CREDENTIALS, code: optional(codeField) } },
    async ({ signIn }, { body, visitor }) => signedIn(await signIn.signIn(body, visitor)),
  ),
  leaving("POST sign-out", {}, async ({ sessions }, request) => {
    await sessions.end(request.account.id, request.session.id);
    await noteOwn(request, { action: "session.ended" });
    return new AccountReply({ cookie: "" });
  }),
];

const signedIn = ({ token }: StartedSession): AccountReply => new AccountReply({ cookie: token });

const ROWS_MAX = 200;

const stateField = wordField(["on", "off"], '"state" must be "on" or "off".');

const switchRoute = <Name extends "traffic" | "decision-log">(name: Name) =>
  account(`POST ${name}`, { body: { state: stateField } }, async (services, request) => {
    const switches = services.switches.by(request.note);
    const change = name === "traffic" ? switches.switchTraffic : switches.switchLog;
    await change(request.account.id, request.body.state);
  });

const EXPORTED = [
  "keys",
  "usage",
  "credits",
  "activity",
  "sessions",
  "lists",
  "policies",
  "outcomes",
  "decisions",
  "hooks",
  "webhook",
  "webhook/deliveries",
];

export function exportRoute(routes: readonly AccountRoute[]) {
  return account("GET export", {}, async (services, request) => {
    const read = (path: string, id = ""): unknown => {
      const reading: AccountRequest = { ...request, id, query: { days: "400" } };
      const route = routes.find((one) => one.method === "GET" && one.path === path);
      return route?.handle(services, reading);
    };
    const data: Record<string, unknown> = { account: shownAccount(request.account) };
    for (const path of EXPORTED) data[path] = await read(path);
    const { policies } = data["policies"] as { policies: { name: string }[] };
    data["policy documents"] = await Promise.all(
      policies.map(({ name }) => read("policies/:id", name)),
    );
    await noteOwn(request, { action: "account.exported" });
    return file("gatepost-export.json", "application/json", once(JSON.stringify(data, null, 2)));
  });
}

async function* once(text: string): AsyncGenerator<string> {
  yield await Promise.resolve(text);
}

export const ownRoutes = [
  everyone(
    "POST check",
    { body: { entry: bodyText(2_000), features: textsField(20) } },
    (services, request) => {
      const entry = trimEntry(request.body.entry);
      if (entry === "") throw missingParameter("entry");
      return countedLines(services, request, (admitted) =>
        services.check(admitted, entry, request.body.features),
      );
    },
  ),
  account("GET allowance", {}, ({ usage }, { account: own }) => usage.allowance(own)),
  account("GET usage", {}, async ({ usage }, { account: own, query }) => ({
    days: await usage.days(own, boundedNumber(query["days"], { standard: 30, max: 400 })),
  })),
  account("GET credits", {}, async ({ credits }, { account: own }) => ({
    entries: (await credits.entries(own.id, ROWS_MAX)).map(shownCredit),
  })),
  account("GET activity", {}, async ({ auditLog }, { account: { id } }) => ({
    entries: (await auditLog.page({ accountId: id, limit: ROWS_MAX })).rows.map(ownAudit),
  })),
  account("GET sessions", {}, async ({ sessions, clock }, { account: own, session }) => {
    const known = await sessions.list(own.id, clock.nowMs());
    return { sessions: known.map((one) => shownSession(one, session.id)) };
  }),
  account("DELETE sessions", {}, async ({ sessions }, request) => {
    await sessions.endAll(request.account.id, request.session.id);
    await noteOwn(request, { action: "session.revoked", detail: "everywhere else" });
  }),
  account("DELETE sessions/:id", {}, async ({ sessions }, request) => {
    if (!(await sessions.end(request.account.id, request.id))) throw notFound();
    await noteOwn(request, { action: "session.revoked" });
  }),
  account(
    "POST password",
    { confirmed: true, body: { new_password: passwordField } },
    async ({ accounts }, request) => {
      const { account: own, session, body } = request;
      await accounts.setPassword(own.id, body.new_password, session.id);
      await noteOwn(request, { action: "account.password" });
    },
  ),
  account("POST email", { confirmed: true, body: { email: emailField } }, async (_, request) => {
    const detail = accountEmail(request.body.email);
    if (detail === undefined) throw badField("That is not a valid email address.");
    // Changes nothing, so that nobody learns whether another account has it: an administrator reads the wish.
    await noteOwn(request, { action: EMAIL_ASKED, detail });
  }),
  account("POST second-factor", { confirmed: true }, ({ factors }, request) =>
    factors.begin(request.account),
  ),
  account(
    "POST second-factor/finish",
    { body: { set_up: bodyText(1_000), code: codeField } },
    async ({ factors }, request) => {
      const codes = await factors.finish(request.account, request.body);
      await noteOwn(request, { action: "account.second_factor", detail: "on" });
      return { codes };
    },
  ),
  account("POST second-factor/remove", { confirmed: true }, async ({ accounts }, request) => {
    await accounts.by(request.note).endSecondFactor(request.account.id);
  }),
  account("POST delete", { confirmed: true }, async ({ accounts }, request) => {
    // First, so that a fault in between leaves a record and not a riddle.
    await noteOwn(request, { action: "account.deleted" });
    await accounts.erase(request.account.id);
    return new AccountReply({ cookie: "" });
  }),
  switchRoute("traffic"),
  switchRoute("decision-log"),
];

const NAME_MAX = 2_000;

const nameField = bodyText(NAME_MAX);
const originsField: Reader<readonly string[]> = (value, name) =>
  textsField(100)(value, name).map((origin) => origin.trim());

const shownKey = (key: ApiKey) => ({
  ...keyJson(key),
  kind: key.origins === null ? ("secret" as const) : ("publishable" as const),
});

/** The services that note each change of the key of the path, which is the account's own. */
async function ownKeys({ keys }: DashboardServices, { id, account: own, note }: SignedInRequest) {
  if ((await keys.find(id))?.account_id !== own.id) throw notFound();
  return keys.by(note);
}

export const keyRoutes = [
  account("GET keys", {}, async ({ keys }, { account: own }) => ({
    keys: (await keys.list(own.id)).map(shownKey).reverse(),
  })),
  account(
    "POST keys",
    {
      body: {
        name: nameField,
        origins: optional(originsField),
        policy: optional(bodyText(NAME_MAX)),
        form: optional(bodyText(NAME_MAX)),
        daily: optional(wholeField),
      },
    },
    async ({ keys }, { body, account: own, note }) => {
      const { name, origins, ...terms } = body;
      const page = origins && { origins, ...terms };
      const { key, apiKey } = await keys.by(note).create(own.id, name, page);
      return { id: key.id, name: key.name, api_key: apiKey, ...(origins && { origins }) };
    },
  ),
  account("DELETE keys/:id", {}, async (services, request) => {
    await (await ownKeys(services, request)).revoke(request.id);
  }),
  account("POST keys/:id/name", { body: { name: nameField } }, async (services, request) => {
    const keys = await ownKeys(services, request);
    await keys.rename(request.id, request.body.name);
  }),
];

/** As the log shows it; a delivery that waits has the time it was queued. */
function shownDelivery(delivery: WebhookDeliveryRow) {
  const { id, queued_at_ms: queuedMs, snippet: response } = delivery;
  const row = deliveryRow(delivery);
  return { id, ...row, attempted_at: row.attempted_at ?? isoTime(queuedMs), response };
}

const notedWebhook = ({ webhooks }: DashboardServices, { note }: SignedInRequest) =>
  webhooks.setup.by(note);

export const watchRoutes = [
  account("GET watch", {}, async ({ watch }, { account: own }) => ({
    domains: await watch.count(own.id),
    changes: await watch.changes(own.id),
  })),
  account("DELETE watch", {}, ({ watch }, { account: own }) => watch.clear(own.id)),
];

export const webhookRoutes = [
  account("GET webhook", {}, async ({ webhooks }, { account: own }) => ({
    known_events: WEBHOOK_EVENTS,
    webhook: (await webhooks.setup.show(own.id)) ?? null,
  })),
  account("GET webhook/deliveries", {}, async ({ webhooks }, { account: own }) => ({
    deliveries: (await webhooks.deliveries.list(own.id, 100)).map(shownDelivery),
  })),
  account("POST webhook/ping", {}, async ({ webhooks }, { account: own }) =>
    shownDelivery(await webhooks.dispatcher.ping(own.id)),
  ),
  account("POST webhook/deliveries/:id/resend", {}, async ({ webhooks }, { account: own, id }) =>
    shownDelivery(await webhooks.dispatcher.ping(own.id, id)),
  ),
  account(
    "POST webhook",
    { body: { url: bodyText(2_100), events: textsField(20) } },
    async (services, request) => {
      const { account: own, body } = request;
      const setup = notedWebhook(services, request);
      if ((await setup.show(own.id))?.url !== body.url) {
        return { secret: (await setup.set(own.id, body.url, body.events)).secret };
      }
      await setup.selectEvents(own.id, body.events);
      return { secret: null };
    },
  ),
  account("POST webhook/secret", {}, async (services, request) => ({
    secret: (await notedWebhook(services, request).renewSecret(request.account.id)).secret,
  })),
  account("DELETE webhook", {}, async (services, request) => {
    await notedWebhook(services, request).remove(request.account.id);
  }),
];

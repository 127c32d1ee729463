import { accountEmail } from "../../accounts/accounts.ts";
import { EMAIL_ASKED } from "../../accounts/audit.ts";
import { type ApiKey, KEY_NAME_MAX, keyJson, KEYS_MAX } from "../../accounts/keys.ts";
import { checkPassword } from "../../accounts/sign-in/sign-up.ts";
import { badField, missingParameter, notFound, notNow } from "../../base/refusals.ts";
import { CheckStep, FrontPage } from "../../check/check-shapes.ts";
import { trimEntry } from "../../core/address/address.ts";
import { isoTime } from "../../core/calendar.ts";
import type { WebhookDeliveryRow } from "../../store/schema.ts";
import { deliveryRow } from "../../webhooks/webhook-sender.ts";
import { WEBHOOK_EVENTS } from "../../webhooks/webhooks-store.ts";
import { ownAudit, shownAccount, shownCredit, shownSession } from "./present.ts";
import {
  account,
  type AccountContext,
  type AccountRoute,
  boundedNumber,
  type Context,
  countedLines,
  emailField,
  everyone,
  type Reader,
  file,
  leaving,
  noteOwn,
  optional,
  passwordField,
  textField,
  textsField,
  wholeField,
  wordField,
} from "./route.ts";
import {
  AllowanceJson,
  AuditEntries,
  CreditsJson,
  DeliveryJson,
  DeliveryLog,
  Keys,
  KnownSignIns,
  NewKey,
  NewSecret,
  Plans,
  RecoveryCodes,
  SavedWebhook,
  SecondFactorSetUp,
  SessionState,
  SetUpState,
  Usage,
  WatchState,
  WebhookState,
} from "./shapes.ts";

const CREDENTIALS = { email: emailField, password: passwordField };

/** Of an authenticator app, or a recovery code. */
const codeField = textField(100);

const PARTS: SessionState["parts"] = ["lists", "webhooks"];
const ALL_PARTS: SessionState["parts"] = [...PARTS, "gate"];

export const signInRoutes: readonly AccountRoute[] = [
  everyone("GET session", { answer: SessionState, withoutStore: true }, async (context) => {
    const { known, claimed, info, accountLists, gate } = context;
    return {
      signup: await context.signUps.mode(),
      public_url: info.publicUrl(),
      version: info.version,
      list_hours: accountLists.lifeMs / 3_600_000,
      parts: gate === undefined ? PARTS : ALL_PARTS,
      ...(known !== undefined && { account: shownAccount(known.account) }),
      ...(known === undefined && claimed !== undefined && { proxy_email: claimed }),
    };
  }),
  everyone("GET plans", { answer: Plans }, ({ tiers }) => ({
    plans: (["anonymous", "new_free", "free"] as const).map((name) => {
      const { bulkLimit, daily } = tiers[name];
      return { name, daily, bulk_limit: bulkLimit };
    }),
  })),
  everyone("GET front", { answer: FrontPage }, ({ frontPage }) => frontPage()),
  everyone("POST sign-up", { body: CREDENTIALS }, async ({ body, visitor, signUp }) => {
    await signUp(body.email, body.password, visitor);
  }),
  everyone("GET setup", { answer: SetUpState }, async ({ setUp }) => ({
    open: await setUp.isOpen(),
  })),
  everyone(
    "POST setup",
    { body: { token: textField(100), ...CREDENTIALS } },
    async ({ body: { token, ...credentials }, visitor, setUp }) => ({
      cookie: (await setUp.finish(token, credentials, visitor)).token,
    }),
  ),
  everyone(
    "POST new-password",
    { body: { token: textField(1_000), password: passwordField } },
    async ({ body, visitor, resetLinks }) => {
      await resetLinks.use(body.token, body.password, visitor);
    },
  ),
  everyone(
    "POST sign-in",
    { body: { ...CREDENTIALS, code: optional(codeField) } },
    async ({ body, visitor, signIn }) => ({ cookie: (await signIn.signIn(body, visitor)).token }),
  ),
  leaving("POST sign-out", {}, async (context) => {
    await context.sessions.end(context.account.id, context.session.id);
    await noteOwn(context, { action: "session.ended" });
    return { cookie: "" };
  }),
];

const ROWS_MAX = 200;
const USAGE_DAYS = { standard: 30, max: 400 };

/** With the names of keys; null for a request without a key, and for a key that is gone. */
async function refusalsOf({ account: { id }, counts, keys }: AccountContext, days: number) {
  const [rows, known] = await Promise.all([counts.refusals(id, days), keys.list(id)]);
  const names = new Map(known.map((key) => [key.id, key.name]));
  return rows.map((row) => ({ ...row, key_name: names.get(row.key_id ?? "") ?? null }));
}

const stateField = wordField(["on", "off"], '"state" must be "on" or "off".');

const switchRoute = (name: "traffic" | "decision-log"): AccountRoute =>
  account(`POST ${name}`, { body: { state: stateField } }, async (context) => {
    const switches = context.switches.by(context.note);
    const change = name === "traffic" ? switches.switchTraffic : switches.switchLog;
    await change(context.account.id, context.body.state);
  });

/** What the export holds: the answers of these routes, where the server has them. */
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

export function exportRoute(routes: readonly AccountRoute[]): AccountRoute {
  return account("GET export", {}, async (context) => {
    const read = (path: string, id = ""): unknown => {
      const asked: Context = { ...context, id, query: { days: "400" } };
      return routes.find((one) => one.method === "GET" && one.path === path)?.handle(asked);
    };
    const data: Record<string, unknown> = { account: shownAccount(context.account) };
    for (const path of EXPORTED) data[path] = await read(path);
    const { policies = [] } = (data["policies"] ?? {}) as { policies?: { name: string }[] };
    data["policy documents"] = await Promise.all(
      policies.map(({ name }) => read("policies/:id", name)),
    );
    await noteOwn(context, { action: "account.exported" });
    return file("gatepost-export.json", "application/json", once(JSON.stringify(data, null, 2)));
  });
}

async function* once(text: string): AsyncGenerator<string> {
  yield await Promise.resolve(text);
}

export const ownRoutes: readonly AccountRoute[] = [
  everyone(
    "POST check",
    { body: { entry: textField(2_000), features: textsField(20) }, lines: CheckStep },
    (context) => {
      const entry = trimEntry(context.body.entry);
      if (entry === "") throw missingParameter("entry");
      return countedLines(context, (admitted) =>
        context.check(admitted, entry, context.body.features),
      );
    },
  ),
  account("GET allowance", { answer: AllowanceJson }, (context) =>
    context.usage.allowance(context.account),
  ),
  account("GET usage", { answer: Usage }, async (context) => {
    const { account: own, usage } = context;
    const days = boundedNumber(context.query["days"], USAGE_DAYS);
    return {
      days: await usage.days(own, days),
      refusals: await refusalsOf(context, days),
      allowance: await usage.allowance(own),
    };
  }),
  account("GET credits", { answer: CreditsJson }, async ({ account: own, credits }) => ({
    balance: own.creditBalance,
    entries: (await credits.entries(own.id, ROWS_MAX)).map(shownCredit),
  })),
  account("GET activity", { answer: AuditEntries }, async ({ account: { id }, auditLog }) => ({
    entries: (await auditLog.ofAccount(id, ROWS_MAX)).map(ownAudit),
  })),
  account("GET sessions", { answer: KnownSignIns }, async (context) => {
    const known = await context.sessions.list(context.account.id, context.clock.nowMs());
    return { sessions: known.map((one) => shownSession(one, context.session.id)) };
  }),
  account("DELETE sessions", {}, async (context) => {
    await context.sessions.endAll(context.account.id, context.session.id);
    await noteOwn(context, { action: "session.revoked", detail: "everywhere else" });
  }),
  account("DELETE sessions/:id", {}, async (context) => {
    if (!(await context.sessions.end(context.account.id, context.id))) throw notFound();
    await noteOwn(context, { action: "session.revoked" });
  }),
  account(
    "POST password",
    { confirmed: true, body: { new_password: passwordField } },
    async (context) => {
      const { account: own, session, body } = context;
      checkPassword(body.new_password, own.email);
      await context.accounts.setPassword(own.id, body.new_password, session.id);
      await noteOwn(context, { action: "account.password" });
    },
  ),
  account("POST email", { confirmed: true, body: { email: emailField } }, async (context) => {
    const detail = accountEmail(context.body.email);
    if (detail === undefined) throw badField("That is not a valid email address.");
    // Changes nothing, so that nobody learns whether another account has it: an administrator reads the wish.
    await noteOwn(context, { action: EMAIL_ASKED, detail });
  }),
  account("POST second-factor", { confirmed: true, answer: SecondFactorSetUp }, async (context) => {
    return context.factors.begin(context.account);
  }),
  account(
    "POST second-factor/finish",
    { body: { set_up: textField(1_000), code: codeField }, answer: RecoveryCodes },
    async (context) => {
      const codes = await context.factors.finish(context.account, context.body);
      await noteOwn(context, { action: "account.second_factor", detail: "on" });
      return { codes };
    },
  ),
  account("POST second-factor/remove", { confirmed: true }, async (context) => {
    await context.accounts.by(context.note).endSecondFactor(context.account.id);
  }),
  account("POST delete", { confirmed: true }, async (context) => {
    // First, so that a fault in between leaves a record and not a riddle.
    await noteOwn(context, { action: "account.deleted" });
    await context.accounts.erase(context.account.id);
    return { cookie: "" };
  }),
  switchRoute("traffic"),
  switchRoute("decision-log"),
];

/** Longer names of keys are refused in the words below. */
const NAME_MAX = 2_000;
const BAD_NAME = `A key needs a name: one line of at most ${String(KEY_NAME_MAX)} characters, and no reserved one.`;
const TOO_MANY = `An account has at most ${String(KEYS_MAX)} keys. Revoke one first.`;

const nameField = textField(NAME_MAX);
const originsField: Reader<readonly string[]> = (value, name) =>
  textsField(100)(value, name).map((origin) => origin.trim());

const shownKey = (key: ApiKey) => ({
  ...keyJson(key),
  kind: key.origins === null ? ("secret" as const) : ("publishable" as const),
});

/** The key of the path, which is the account's own, and the services that note each change. */
async function ownKey({ id, account: own, keys, note }: AccountContext) {
  const key = await keys.find(id);
  if (key?.account_id !== own.id) throw notFound();
  return keys.by(note);
}

export const keyRoutes: readonly AccountRoute[] = [
  account("GET keys", { answer: Keys }, async ({ account: own, keys }) => ({
    keys: (await keys.list(own.id)).map(shownKey).reverse(),
  })),
  account(
    "POST keys",
    {
      body: {
        name: nameField,
        origins: optional(originsField),
        policy: optional(textField(NAME_MAX)),
        form: optional(textField(NAME_MAX)),
        daily: optional(wholeField),
      },
      answer: NewKey,
    },
    async ({ body, account: own, keys, note }) => {
      const { name, origins, policy, form, daily } = body;
      const page = origins && {
        origins,
        ...(policy !== undefined && { policy }),
        ...(form !== undefined && { form }),
        ...(daily !== undefined && { daily }),
      };
      const answer = await keys.by(note).create(own.id, name, page);
      if (answer.kind === "bad_page") throw badField(answer.mistake);
      if (answer.kind === "bad_name") throw badField(BAD_NAME);
      if (answer.kind === "too_many") throw notNow(TOO_MANY);
      const { id, name: kept } = answer.key;
      return { id, name: kept, api_key: answer.apiKey, ...(origins && { origins }) };
    },
  ),
  account("DELETE keys/:id", {}, async (context) => {
    await (await ownKey(context)).revoke(context.id);
  }),
  account("POST keys/:id/origins", { body: { origins: originsField } }, async (context) => {
    const keys = await ownKey(context);
    const mistake = await keys.setOrigins(context.id, context.body.origins);
    if (mistake !== undefined) throw badField(mistake);
  }),
  account("POST keys/:id/name", { body: { name: nameField } }, async (context) => {
    const keys = await ownKey(context);
    if (!(await keys.rename(context.id, context.body.name))) throw badField(BAD_NAME);
  }),
];

const DELIVERIES_MAX = 100;
const URL_MAX = 2_100;

/** As the log shows it; a delivery that waits has the time it was queued. */
function shownDelivery(delivery: WebhookDeliveryRow): DeliveryJson {
  const { id, queued_at_ms: queuedMs, snippet: response } = delivery;
  const row = deliveryRow(delivery);
  return { id, ...row, attempted_at: row.attempted_at ?? isoTime(queuedMs), response };
}

const notedWebhook = ({ webhooks, note }: AccountContext) => webhooks.setup.by(note);

export const watchRoutes: readonly AccountRoute[] = [
  account("GET watch", { answer: WatchState }, async ({ account: own, watch }) => ({
    domains: await watch.count(own.id),
    changes: await watch.changes(own.id),
  })),
  account("DELETE watch", {}, ({ account: own, watch }) => watch.clear(own.id)),
];

export const webhookRoutes: readonly AccountRoute[] = [
  account("GET webhook", { answer: WebhookState }, async ({ account: own, webhooks }) => ({
    known_events: WEBHOOK_EVENTS,
    webhook: (await webhooks.setup.show(own.id)) ?? null,
  })),
  account(
    "GET webhook/deliveries",
    { answer: DeliveryLog },
    async ({ account: own, webhooks }) => ({
      deliveries: (await webhooks.deliveries.list(own.id, DELIVERIES_MAX)).map(shownDelivery),
    }),
  ),
  account("POST webhook/ping", { answer: DeliveryJson }, async ({ account: own, webhooks }) =>
    shownDelivery(await webhooks.dispatcher.ping(own.id)),
  ),
  account("POST webhook/deliveries/:id/resend", { answer: DeliveryJson }, async (context) =>
    shownDelivery(await context.webhooks.dispatcher.ping(context.account.id, context.id)),
  ),
  account(
    "POST webhook",
    { body: { url: textField(URL_MAX), events: textsField(20) }, answer: SavedWebhook },
    async (context) => {
      const { account: own, body, webhooks } = context;
      const setup = notedWebhook(context);
      if ((await webhooks.setup.show(own.id))?.url !== body.url) {
        return { secret: (await setup.set(own.id, body.url, body.events)).secret };
      }
      await setup.selectEvents(own.id, body.events);
      return { secret: null };
    },
  ),
  account("POST webhook/secret", { answer: NewSecret }, async (context) => ({
    secret: (await notedWebhook(context).renewSecret(context.account.id)).secret,
  })),
  account("DELETE webhook", {}, async (context) => {
    await notedWebhook(context).remove(context.account.id);
  }),
];

import type { Field } from "../field.ts";
import { accountEmail } from "../../accounts/accounts.ts";
import { LATENCY_EDGES_MS } from "../../accounts/admission/usage.ts";
import { EMAIL_ASKED } from "../../accounts/audit.ts";
import {
  type ApiKey,
  KEY_NAME_MAX,
  keyJson,
  KEYS_MAX,
  type KeyService,
} from "../../accounts/keys.ts";
import { checkPassword } from "../../accounts/sign-in/sign-up.ts";
import { badField, missingParameter, notFound, notNow } from "../../base/refusals.ts";
import { CheckStep, FrontPage } from "../../check/check-shapes.ts";
import { trimEntry } from "../../core/address/address.ts";
import {
  type AccountRequest,
  countedLines,
  type DashboardContext,
  type SignedInRequest,
} from "./context.ts";
import type { Account } from "../../accounts/accounts-store.ts";
import { ownAudit, shownAccount, shownCredit, shownSession } from "./present.ts";
import {
  account,
  type AccountRoute,
  boundedNumber,
  confirm,
  CONFIRMED,
  emailField,
  everyone,
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
  Keys,
  KnownSignIns,
  NewKey,
  Plans,
  RecoveryCodes,
  SecondFactorSetUp,
  SessionState,
  SetUpState,
  Usage,
} from "./shapes.ts";

const CREDENTIALS = { email: emailField, password: passwordField };

/** Of an authenticator app, or a recovery code. */
const codeField = textField(100);

const PARTS: SessionState["parts"] = ["lists", "webhooks"];
const ALL_PARTS: SessionState["parts"] = [...PARTS, "gate"];

export const signInRoutes: readonly AccountRoute[] = [
  everyone(
    "GET session",
    { answer: SessionState, withoutStore: true },
    async ({ known, claimed }, context) => ({
      signup: await context.signUps.mode(),
      public_url: context.info.publicUrl(),
      version: context.info.version,
      list_hours: context.accountLists.lifeMs / 3_600_000,
      parts: context.gate === undefined ? PARTS : ALL_PARTS,
      ...(known !== undefined && { account: shownAccount(known.account) }),
      ...(known === undefined && claimed !== undefined && { proxy_email: claimed }),
    }),
  ),
  everyone("GET plans", { answer: Plans }, (_request, context) => ({
    plans: (["anonymous", "new_free", "free", "starter", "pro"] as const).map((name) => {
      const { ratePerMinute, daily, monthly, bulkLimit, premium } = context.tiers[name];
      return {
        name,
        rate_per_minute: ratePerMinute,
        daily,
        monthly,
        bulk_limit: bulkLimit,
        premium,
      };
    }),
  })),
  everyone("GET front", { answer: FrontPage }, (_request, context) => context.frontPage()),
  everyone("POST sign-up", { body: CREDENTIALS }, async ({ body, visitor }, context) => {
    await context.signUp(body.email, body.password, visitor);
  }),
  everyone("GET setup", { answer: SetUpState }, async (_request, context) => ({
    open: await context.setUp.isOpen(),
  })),
  everyone(
    "POST setup",
    { body: { token: textField(100), ...CREDENTIALS } },
    async ({ body: { token, ...credentials }, visitor }, context) => ({
      cookie: (await context.setUp.finish(token, credentials, visitor)).token,
    }),
  ),
  everyone(
    "POST new-password",
    { body: { token: textField(1_000), password: passwordField } },
    async ({ body, visitor }, context) => {
      await context.resetLinks.use(body.token, body.password, visitor);
    },
  ),
  everyone(
    "POST sign-in",
    { body: { ...CREDENTIALS, code: optional(codeField) } },
    async ({ body, visitor }, context) => ({
      cookie: (await context.signIn.signIn(body, visitor)).token,
    }),
  ),
  leaving(
    "POST sign-out",
    {},
    async ({ account: { id: accountId }, session, note }, { sessions }) => {
      await sessions.end(accountId, session.id);
      await note({ action: "session.ended", accountId });
      return { cookie: "" };
    },
  ),
];

const ROWS_MAX = 200;
const USAGE_DAYS = { standard: 30, max: 400 };

/** With the names of keys; null for a request without a key, and for a key that is gone. */
async function refusalsOf(
  { id }: Pick<Account, "id">,
  days: number,
  { counts, keys }: Pick<DashboardContext, "counts" | "keys">,
) {
  const [rows, known] = await Promise.all([counts.refusals(id, days), keys.list(id)]);
  const names = new Map(known.map((key) => [key.id, key.name]));
  return rows.map((row) => ({ ...row, key_name: names.get(row.key_id ?? "") ?? null }));
}

const stateField = wordField(["on", "off"], '"state" must be "on" or "off".');

const switchRoute = (name: "traffic" | "decision-log"): AccountRoute =>
  account(`POST ${name}`, { body: { state: stateField } }, async (request, context) => {
    const switches = context.switches.by(request.note);
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
  "lists",
  "policies",
  "outcomes",
  "decisions",
  "hooks",
  "webhook",
  "webhook/deliveries",
];

export function exportRoute(routes: readonly AccountRoute[]): AccountRoute {
  return account("GET export", {}, async (request, context) => {
    const read = (path: string, id = ""): unknown => {
      const asked: AccountRequest = { ...request, id, query: { days: "400" } };
      const route = routes.find((one) => one.method === "GET" && one.path === path);
      return route?.handle(asked, context);
    };
    const data: Record<string, unknown> = { account: shownAccount(request.account) };
    for (const path of EXPORTED) data[path] = await read(path);
    const { policies = [] } = (data["policies"] ?? {}) as { policies?: { name: string }[] };
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

export const ownRoutes: readonly AccountRoute[] = [
  everyone(
    "POST check",
    { body: { entry: textField(2_000), features: textsField(20) }, lines: CheckStep },
    (request, context) => {
      const entry = trimEntry(request.body.entry);
      if (entry === "") throw missingParameter("entry");
      return countedLines(request, context, (entrance) =>
        context.check(entrance, entry, request.body.features),
      );
    },
  ),
  account("GET allowance", { answer: AllowanceJson }, (request, context) =>
    context.usage.allowance(request.account),
  ),
  account("GET usage", { answer: Usage }, async ({ account: own, query }, context) => ({
    days: await context.usage.days(own, boundedNumber(query["days"], USAGE_DAYS)),
    hours: await context.counts.today(own.id),
    refusals: await refusalsOf(own, boundedNumber(query["days"], USAGE_DAYS), context),
    latency_edges_ms: LATENCY_EDGES_MS,
    allowance: await context.usage.allowance(own),
  })),
  account(
    "GET credits",
    { answer: CreditsJson },
    async ({ account: { id, creditBalance: balance } }, context) => ({
      balance,
      entries: (await context.credits.entries(id, ROWS_MAX)).map(shownCredit),
    }),
  ),
  account("GET activity", { answer: AuditEntries }, async ({ account: { id } }, context) => ({
    entries: (await context.auditLog.ofAccount(id, ROWS_MAX)).map(ownAudit),
  })),
  account(
    "GET sessions",
    { answer: KnownSignIns },
    async ({ account: { id }, session }, { sessions, clock }) => {
      const known = await sessions.list(id, clock.nowMs());
      return { sessions: known.map((one) => shownSession(one, session.id)) };
    },
  ),
  account("DELETE sessions", {}, async (request, { sessions }) => {
    await sessions.endAll(request.account.id, request.session.id);
    await noteOwn(request, { action: "session.revoked", detail: "everywhere else" });
  }),
  account("DELETE sessions/:id", {}, async (request, { sessions }) => {
    if (!(await sessions.end(request.account.id, request.id))) throw notFound();
    await noteOwn(request, { action: "session.revoked" });
  }),
  account(
    "POST password",
    { body: { ...CONFIRMED, new_password: passwordField } },
    async (request, context) => {
      const { account: own, session, body } = request;
      checkPassword(body.new_password, own.email);
      await confirm(request, context);
      await context.accounts.setPassword(own.id, body.new_password, session.id);
      await noteOwn(request, { action: "account.password" });
    },
  ),
  account("POST email", { body: { ...CONFIRMED, email: emailField } }, async (request, context) => {
    await confirm(request, context);
    const detail = accountEmail(request.body.email);
    if (detail === undefined) throw badField("That is not a valid email address.");
    // Changes nothing, so that nobody learns whether another account has it: an administrator reads the wish.
    await noteOwn(request, { action: EMAIL_ASKED, detail });
  }),
  account(
    "POST second-factor",
    { body: CONFIRMED, answer: SecondFactorSetUp },
    async (request, context) => {
      await confirm(request, context);
      return context.factors.begin(request.account);
    },
  ),
  account(
    "POST second-factor/finish",
    { body: { set_up: textField(1_000), code: codeField }, answer: RecoveryCodes },
    async (request, { factors }) => {
      const codes = await factors.finish(request.account, request.body);
      await noteOwn(request, { action: "account.second_factor", detail: "on" });
      return { codes };
    },
  ),
  account("POST second-factor/remove", { body: CONFIRMED }, async (request, context) => {
    await confirm(request, context);
    const noted = context.accounts.by(request.note);
    await noted.endSecondFactor(request.account.id);
  }),
  account("POST delete", { body: CONFIRMED }, async (request, context) => {
    await confirm(request, context);
    // First, so that a fault in between leaves a record and not a riddle.
    await noteOwn(request, { action: "account.deleted" });
    await context.accounts.erase(request.account.id);
    return { cookie: "" };
  }),
  switchRoute("traffic"),
  switchRoute("decision-log"),
];

/** Longer names of keys are refused in the words below. */
const NAME_MAX = 2_000;
const BAD_NAME = `A key needs a name: one line of at most ${String(KEY_NAME_MAX)} characters, and no reserved one.`;
const TOO_MANY = `An account has at most ${String(KEYS_MAX)} keys. Revoke one first.`;

const nameField = textField(NAME_MAX, { maxLength: KEY_NAME_MAX });
const texts = textsField(100);
const originsField: Field<readonly string[]> = {
  ...texts,
  read: (value, name) => texts.read(value, name).map((origin) => origin.trim()),
};

const shownKey = (key: ApiKey) => ({
  ...keyJson(key),
  kind: key.origins === null ? ("secret" as const) : ("publishable" as const),
});

async function ownKey({ id, account: { id: own } }: SignedInRequest, keys: KeyService) {
  const key = await keys.find(id);
  if (key?.account_id !== own) throw notFound();
  return key;
}

export const keyRoutes: readonly AccountRoute[] = [
  account("GET keys", { answer: Keys }, async (request, { keys }) => ({
    keys: (await keys.list(request.account.id)).map(shownKey).reverse(),
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
    async ({ body, account: { id: accountId }, note }, { keys }) => {
      const { name, origins, policy, form, daily } = body;
      const page = origins && {
        origins,
        ...(policy !== undefined && { policy }),
        ...(form !== undefined && { form }),
        ...(daily !== undefined && { daily }),
      };
      const answer = await keys.by(note).create(accountId, name, page);
      if (answer.kind === "bad_page") throw badField(answer.mistake);
      if (answer.kind === "bad_name") throw badField(BAD_NAME);
      if (answer.kind === "too_many") throw notNow(TOO_MANY);
      const { id, name: kept } = answer.key;
      return { id, name: kept, api_key: answer.apiKey, ...(origins && { origins }) };
    },
  ),
  account("DELETE keys/:id", {}, async (request, { keys }) => {
    const { id } = await ownKey(request, keys);
    await keys.by(request.note).revoke(id);
  }),
  account(
    "POST keys/:id/origins",
    { body: { origins: originsField } },
    async (request, { keys }) => {
      const { id } = await ownKey(request, keys);
      const mistake = await keys.by(request.note).setOrigins(id, request.body.origins);
      if (mistake !== undefined) throw badField(mistake);
    },
  ),
  account("POST keys/:id/name", { body: { name: nameField } }, async (request, { keys }) => {
    const { id } = await ownKey(request, keys);
    const isDone = await keys.by(request.note).rename(id, request.body.name);
    if (!isDone) throw badField(BAD_NAME);
  }),
];

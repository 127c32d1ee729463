import { FrontPage } from "../../check/check-shapes.ts";
import { shownAccount } from "./present.ts";
import type { DashboardContext } from "./context.ts";
import {
  type AccountRoute,
  emailField,
  everyone,
  leaving,
  passwordField,
  textField,
} from "./route.ts";
import { Plans, SessionState, SetUpState } from "./shapes.ts";

const CREDENTIALS = { email: emailField, password: passwordField };

const PARTS: SessionState["parts"] = ["lists", "webhooks"];
const ALL_PARTS: SessionState["parts"] = [...PARTS, "gate"];

export const signInRoutes = (context: DashboardContext): readonly AccountRoute[] => [
  ...frontRoutes(context),
  ...signUpRoutes(context),
];

const frontRoutes = (context: DashboardContext): readonly AccountRoute[] => [
  everyone(
    "GET session",
    "Who is signed in, and what this service offers",
    { answer: SessionState },
    async ({ token, visitor }) => {
      const known = token === undefined ? undefined : await context.logins.identify(token, visitor);
      const { signup, publicUrl, version } = context.info;
      return {
        signup,
        public_url: publicUrl(),
        version,
        parts: context.gate === undefined ? PARTS : ALL_PARTS,
        ...(known !== undefined && { account: shownAccount(known.account) }),
      };
    },
  ),
  everyone("GET plans", "The tier table", { answer: Plans }, () => ({
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
  everyone(
    "GET front",
    "Examples checked on this server, and figures of its lists",
    { answer: FrontPage },
    () => context.frontPage(),
  ),
];

const signUpRoutes = (context: DashboardContext): readonly AccountRoute[] => [
  everyone(
    "POST sign-up",
    "Make an account; the answer is the same whether or not the address is known",
    { body: CREDENTIALS },
    async ({ body, visitor }) => {
      await context.signUp(body.email, body.password, visitor);
    },
  ),
  everyone(
    "GET setup",
    "Whether a set-up link works: there is no administrator yet",
    { answer: SetUpState },
    async () => ({ open: await context.setUp.isOpen() }),
  ),
  everyone(
    "POST setup",
    "Make the first administrator by the set-up link, and start a session",
    { body: { token: textField(100), ...CREDENTIALS } },
    async ({ body: { token, ...credentials }, visitor }) => ({
      cookie: (await context.setUp.finish(token, credentials, visitor)).token,
    }),
  ),
  everyone(
    "POST new-password",
    "Choose a new password by an operator's one-time link",
    { body: { token: textField(1_000), password: passwordField } },
    async ({ body, visitor }) => {
      await context.resetLinks.use(body.token, body.password, visitor);
    },
  ),
  everyone("POST sign-in", "Start a session", { body: CREDENTIALS }, async ({ body, visitor }) => ({
    cookie: (await context.signIn.signIn(body.email, body.password, visitor)).token,
  })),
  leaving(
    "POST sign-out",
    "End this session",
    {},
    async ({ account: { id: accountId }, session, note }) => {
      await context.sessions.end(accountId, session.id);
      await note({ action: "session.ended", accountId });
      return { cookie: "" };
    },
  ),
];

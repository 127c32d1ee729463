import type { SignIns, SignInService } from "../../accounts/sign-in/sign-ins.ts";
import type { Audit } from "../../accounts/audit.ts";
import type { SignIn } from "../../accounts/sign-in/sign-in.ts";
import type { SignUp } from "../../accounts/sign-in/sign-up.ts";
import type { FrontPage as Front } from "../../check/front-page.ts";
import type { SetUp } from "../../accounts/sign-in/set-up.ts";
import type { Tiers } from "../../accounts/admission/tiers.ts";
import type { ResetLinks } from "../../accounts/reset-links.ts";
import { Type } from "../../core/json-schema.ts";
import { textField } from "./fields.ts";
import { shownAccount } from "./present.ts";
import { type AccountRoute, answering, done } from "./route.ts";
import { FrontPage, Plans, SessionState, SetUpState } from "./shapes.ts";

export interface EntryDeps {
  readonly logins: Pick<SignInService, "identify">;
  readonly sessions: Pick<SignIns, "end">;
  readonly signIn: Pick<SignIn, "signIn">;
  readonly signUp: SignUp;
  readonly audit: Audit;
  readonly tiers: Tiers;
  readonly info: ServiceInfo;
  readonly setUp: SetUp;
  readonly resetLinks: Pick<ResetLinks, "use">;
  readonly frontPage: () => Promise<Front>;
}

/** What every page may know of this service. */
export interface ServiceInfo {
  readonly signup: "open" | "closed";
  readonly publicUrl: () => string;
  readonly version: string;
  readonly parts: SessionState["parts"];
}

/** A browser sends at most 254 characters of address; a little room for blanks. */
const EMAIL_MAX = 320;
const PASSWORD_FIELD_MAX = 2_000;
const TOKEN_MAX = 1_000;

const CREDENTIALS = Type.Object({ email: Type.String(), password: Type.String() });

/** Who is here, plans, signing up, in and out. */
export function entryRoutes(deps: EntryDeps): readonly AccountRoute[] {
  return [
    sessionRoute(deps),
    plansRoute(deps),
    frontRoute(deps),
    signUpRoute(deps),
    ...setUpRoutes(deps),
    newPasswordRoute(deps),
    signInRoute(deps),
    signOutRoute(deps),
  ];
}

const sessionRoute = ({ logins, info }: EntryDeps): AccountRoute =>
  answering(SessionState, {
    method: "GET",
    path: "session",
    for: "everyone",
    summary: "Who is signed in, and what this service offers",
    async handle({ token, visitor }) {
      const known = token === undefined ? undefined : await logins.identify(token, visitor);
      const { signup, publicUrl, version, parts } = info;
      return {
        signup,
        public_url: publicUrl(),
        version,
        parts,
        ...(known !== undefined && { account: shownAccount(known.account) }),
      };
    },
  });

const plansRoute = ({ tiers }: EntryDeps): AccountRoute =>
  answering(Plans, {
    method: "GET",
    path: "plans",
    for: "everyone",
    summary: "The tier table",
    handle: () => {
      const plans = (["anonymous", "new_free", "free", "starter", "pro"] as const).map((name) => ({
        name,
        rate_per_minute: tiers[name].ratePerMinute,
        daily: tiers[name].daily,
        monthly: tiers[name].monthly,
        bulk_limit: tiers[name].bulkLimit,
        premium: tiers[name].premium,
      }));
      return Promise.resolve({ plans });
    },
  });

const frontRoute = ({ frontPage }: EntryDeps): AccountRoute =>
  answering(FrontPage, {
    method: "GET",
    path: "front",
    for: "everyone",
    summary: "Examples checked on this server, and figures of its lists",
    handle: () => frontPage(),
  });

const signUpRoute = ({ signUp }: EntryDeps): AccountRoute => ({
  method: "POST",
  path: "sign-up",
  for: "everyone",
  summary: "Make an account; the answer is the same whether or not the address is known",
  body: CREDENTIALS,
  async handle({ body, visitor }) {
    const email = textField(body, "email", EMAIL_MAX);
    await signUp(email, textField(body, "password", PASSWORD_FIELD_MAX), visitor);
    return done;
  },
});

const setUpRoutes = ({ setUp }: EntryDeps): readonly AccountRoute[] => [
  answering(SetUpState, {
    method: "GET",
    path: "setup",
    for: "everyone",
    summary: "Whether a set-up link works: there is no administrator yet",
    handle: async () => ({ open: await setUp.isOpen() }),
  }),
  {
    method: "POST",
    path: "setup",
    for: "everyone",
    summary: "Make the first administrator by the set-up link, and start a session",
    body: Type.Object({ token: Type.String(), email: Type.String(), password: Type.String() }),
    async handle({ body, visitor }) {
      const token = textField(body, "token", 100);
      const email = textField(body, "email", EMAIL_MAX);
      const password = textField(body, "password", PASSWORD_FIELD_MAX);
      return { cookie: (await setUp.finish(token, { email, password }, visitor)).token };
    },
  },
];

const newPasswordRoute = ({ resetLinks }: EntryDeps): AccountRoute => ({
  method: "POST",
  path: "new-password",
  for: "everyone",
  summary: "Choose a new password by an operator's one-time link",
  body: Type.Object({ token: Type.String(), password: Type.String() }),
  async handle({ body, visitor }) {
    const token = textField(body, "token", TOKEN_MAX);
    await resetLinks.use(token, textField(body, "password", PASSWORD_FIELD_MAX), visitor);
    return done;
  },
});

const signInRoute = ({ signIn }: EntryDeps): AccountRoute => ({
  method: "POST",
  path: "sign-in",
  for: "everyone",
  summary: "Start a session",
  body: CREDENTIALS,
  async handle({ body, visitor }) {
    const email = textField(body, "email", EMAIL_MAX);
    const password = textField(body, "password", PASSWORD_FIELD_MAX);
    return { cookie: (await signIn.signIn(email, password, visitor)).token };
  },
});

const signOutRoute = ({ sessions, audit }: EntryDeps): AccountRoute => ({
  method: "POST",
  path: "sign-out",
  for: "leaving",
  summary: "End this session",
  async handle({ account, session, visitor: { clientAddress } }) {
    await sessions.end(account.id, session.id);
    const who = { actorId: account.id, accountId: account.id, clientAddress };
    await audit({ action: "session.ended", ...who });
    return { cookie: "" };
  },
});

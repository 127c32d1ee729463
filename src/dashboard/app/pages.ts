import type { SessionState } from "../api/shapes.ts";
import type { Loadable } from "./loaded-parts.ts";
import type { IconName } from "../frame/icon.tsx";
import { FrontPage } from "../pages/front/front.tsx";
import { SignInPage } from "../pages/sign-in/sign-in.tsx";

export interface Page extends Loadable {
  readonly path: string;
  /** In the rail. */
  readonly name: string;
  /** Who sees it; a visitor is sent to sign in. */
  readonly for: "everyone" | "visitor" | "account" | "admin";
  /** Where the rail shows it; absent: nowhere. */
  readonly group?: "main" | "build" | "admin";
  readonly icon?: IconName;
  /** The part of the service it needs. */
  readonly part?: SessionState["parts"][number];
}

/** Every page of the dashboard. The server answers these paths with the app. */
export const PAGES: readonly Page[] = [
  {
    path: "/",
    name: "Check",
    for: "visitor",
    load: () => Promise.resolve(FrontPage),
  },
  {
    path: "/",
    name: "Check",
    for: "account",
    group: "main",
    icon: "check",
    load: async () => (await import("../pages/check/check.tsx")).CheckPage,
  },
  {
    path: "/lists",
    name: "Lists",
    for: "account",
    group: "main",
    icon: "lists",
    part: "lists",
    load: async () => (await import("../pages/bulk/lists.tsx")).ListsPage,
  },
  {
    path: "/policy",
    name: "Policy",
    for: "account",
    group: "main",
    icon: "policy",
    part: "gate",
    load: async () => (await import("../pages/policy/policy.tsx")).PolicyPage,
  },
  {
    path: "/keys",
    name: "Keys",
    for: "account",
    group: "build",
    load: async () => (await import("../pages/account/keys.tsx")).KeysPage,
  },
  {
    path: "/usage",
    name: "Usage",
    for: "account",
    group: "main",
    icon: "usage",
    load: async () => (await import("../pages/account/usage.tsx")).UsagePage,
  },
  {
    path: "/webhooks",
    name: "Webhooks",
    for: "account",
    group: "build",
    part: "webhooks",
    load: async () => (await import("../pages/webhooks/webhooks.tsx")).WebhooksPage,
  },
  {
    path: "/hooks",
    name: "Hooks",
    for: "account",
    group: "build",
    part: "gate",
    load: async () => (await import("../pages/webhooks/hooks.tsx")).HooksPage,
  },
  {
    path: "/credits",
    name: "Credits",
    for: "account",
    group: "build",
    load: async () => (await import("../pages/account/credits.tsx")).CreditsPage,
  },
  {
    path: "/guide",
    name: "Guide",
    for: "everyone",
    group: "build",
    load: async () => (await import("../pages/guide.tsx")).GuidePage,
  },
  {
    path: "/pricing",
    name: "Plans",
    for: "everyone",
    load: async () => (await import("../pages/account/plans.tsx")).PlansPage,
  },
  {
    path: "/settings",
    name: "Your account",
    for: "account",
    load: async () => (await import("../pages/account/settings.tsx")).SettingsPage,
  },
  {
    path: "/sign-in",
    name: "Sign in",
    for: "everyone",
    load: () => Promise.resolve(SignInPage),
  },
  {
    path: "/setup",
    name: "Set-up",
    for: "everyone",
    load: async () => (await import("../pages/sign-in/set-up.tsx")).SetUpPage,
  },
  {
    path: "/sign-up",
    name: "Create an account",
    for: "everyone",
    load: async () => (await import("../pages/sign-in/sign-up.tsx")).SignUpPage,
  },
  {
    path: "/admin/accounts",
    name: "Accounts",
    for: "admin",
    group: "admin",
    load: async () => (await import("../pages/admin/accounts.tsx")).AdminAccountsPage,
  },
  {
    path: "/admin/lists",
    name: "Public lists",
    for: "admin",
    group: "admin",
    load: async () => (await import("../pages/admin/lists.tsx")).AdminListsPage,
  },
  {
    path: "/admin/system",
    name: "Cockpit",
    for: "admin",
    group: "admin",
    load: async () => (await import("../pages/admin/system.tsx")).AdminSystemPage,
  },
];

/** The page of a path: of two, the one for who is here. */
export function pageAt(path: string, known: SessionState | undefined): Page | undefined {
  const pages = PAGES.filter((page) => page.path === path);
  return pages.find((page) => known !== undefined && isOpenTo(page, known)) ?? pages.at(-1);
}

/** Whether this visitor has that page at all. */
export function isOpenTo(page: Page, { account, parts }: SessionState): boolean {
  if (page.part !== undefined && !parts.includes(page.part)) return false;
  if (page.for === "everyone") return true;
  if (page.for === "visitor") return account === undefined;
  return account !== undefined && (page.for === "account" || account.admin);
}

import type { ComponentType } from "preact";
import type { SessionState } from "../api/shapes.ts";
import { SignInPage } from "../pages/sign-in/sign-in.tsx";

export interface Page {
  readonly path: string;
  /** In the rail. */
  readonly name: string;
  readonly load: () => Promise<ComponentType>;
  /** Who sees it; a visitor is sent to sign in. */
  readonly for: "everyone" | "account" | "admin";
  /** Where the rail shows it; absent: nowhere. */
  readonly group?: "main" | "account" | "help" | "admin";
  /** The part of the service it needs. */
  readonly part?: SessionState["parts"][number];
}

/** Every page of the dashboard. The server answers these paths with the app. */
export const PAGES: readonly Page[] = [
  {
    path: "/",
    name: "Check",
    for: "everyone",
    group: "main",
    load: async () => (await import("../pages/check/check.tsx")).CheckPage,
  },
  {
    path: "/lists",
    name: "Lists",
    for: "account",
    group: "main",
    part: "lists",
    load: async () => (await import("../pages/bulk/lists.tsx")).ListsPage,
  },
  {
    path: "/keys",
    name: "Keys",
    for: "account",
    group: "account",
    load: async () => (await import("../pages/account/keys.tsx")).KeysPage,
  },
  {
    path: "/usage",
    name: "Usage",
    for: "account",
    group: "account",
    load: async () => (await import("../pages/account/usage.tsx")).UsagePage,
  },
  {
    path: "/webhooks",
    name: "Webhooks",
    for: "account",
    group: "account",
    part: "webhooks",
    load: async () => (await import("../pages/webhooks/webhooks.tsx")).WebhooksPage,
  },
  {
    path: "/credits",
    name: "Credits",
    for: "account",
    group: "account",
    load: async () => (await import("../pages/account/credits.tsx")).CreditsPage,
  },
  {
    path: "/guide",
    name: "Guide",
    for: "everyone",
    group: "help",
    load: async () => (await import("../pages/guide.tsx")).GuidePage,
  },
  {
    path: "/pricing",
    name: "Plans",
    for: "everyone",
    group: "help",
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
    name: "Lists and reports",
    for: "admin",
    group: "admin",
    load: async () => (await import("../pages/admin/lists.tsx")).AdminListsPage,
  },
  {
    path: "/admin/system",
    name: "System",
    for: "admin",
    group: "admin",
    load: async () => (await import("../pages/admin/system.tsx")).AdminSystemPage,
  },
];

/** Whether this visitor has that page at all. */
export function isOpenTo(page: Page, { account, parts }: SessionState): boolean {
  if (page.part !== undefined && !parts.includes(page.part)) return false;
  if (page.for === "everyone") return true;
  return account !== undefined && (page.for === "account" || account.admin);
}

import type { Loadable } from "./lib/load.ts";
import type { SessionState } from "./lib/shapes.ts";
import { FrontPage } from "./pages/front.tsx";
import { SignInPage } from "./pages/sign-in.tsx";

export interface Page extends Loadable {
  /** Below the base: "" is the first page. */
  readonly path: string;
  /** In the rail. */
  readonly name: string;
  /** Who sees it; a visitor is sent to sign in. */
  readonly for: "everyone" | "visitor" | "account" | "admin";
  /** Where the rail shows it; absent: nowhere. */
  readonly group?: "main" | "build" | "admin";
  /** A path of the small drawing beside its name. */
  readonly icon?: string;
  /** The part of the service it needs. */
  readonly part?: SessionState["parts"][number];
}

/** Every page of the dashboard. The server answers these paths with the app. */
export const PAGES: readonly Page[] = [
  { path: "", name: "Check", for: "visitor", load: () => Promise.resolve(FrontPage) },
  {
    path: "",
    name: "Check",
    for: "account",
    group: "main",
    icon: "M3 9.5l4 4L15 4.5",
    load: async () => (await import("./pages/check.tsx")).CheckPage,
  },
  {
    path: "lists",
    name: "Lists",
    for: "account",
    group: "main",
    icon: "M3 4.5h12M3 9h12M3 13.5h8",
    part: "lists",
    load: async () => (await import("./pages/bulk/lists.tsx")).ListsPage,
  },
  {
    path: "gate",
    name: "Gate",
    for: "account",
    group: "main",
    icon: "M9 2l6 2.5v4c0 4-2.6 6.3-6 7.5-3.4-1.2-6-3.5-6-7.5v-4z",
    part: "gate",
    load: async () => (await import("./pages/policy.tsx")).PolicyPage,
  },
  {
    path: "gate/decisions",
    name: "Decisions",
    for: "account",
    part: "gate",
    load: async () => (await import("./pages/decisions.tsx")).DecisionsPage,
  },
  {
    path: "gate/hooks",
    name: "Hooks and keys for pages",
    for: "account",
    part: "gate",
    load: async () => (await import("./pages/hooks.tsx")).HooksPage,
  },
  {
    path: "usage",
    name: "Usage",
    for: "account",
    group: "main",
    icon: "M3 15V9M7 15V3M11 15v-4M15 15V6",
    load: async () => (await import("./pages/usage.tsx")).UsagePage,
  },
  {
    path: "keys",
    name: "Keys",
    for: "account",
    group: "build",
    load: async () => (await import("./pages/keys.tsx")).KeysPage,
  },
  {
    path: "settings",
    name: "Settings",
    for: "account",
    group: "build",
    load: async () => (await import("./pages/settings.tsx")).SettingsPage,
  },
  {
    path: "admin/system",
    name: "System",
    for: "admin",
    group: "admin",
    load: async () => (await import("./pages/system.tsx")).SystemPage,
  },
  {
    path: "admin/accounts",
    name: "Accounts",
    for: "admin",
    group: "admin",
    load: async () => (await import("./pages/accounts.tsx")).AccountsPage,
  },
  {
    path: "admin/rules",
    name: "Rules",
    for: "admin",
    group: "admin",
    load: async () => (await import("./pages/rules.tsx")).RulesPage,
  },
  {
    path: "pricing",
    name: "Plans",
    for: "everyone",
    load: async () => (await import("./pages/plans.tsx")).PlansPage,
  },
  { path: "sign-in", name: "Sign in", for: "everyone", load: () => Promise.resolve(SignInPage) },
  {
    path: "sign-up",
    name: "Create an account",
    for: "everyone",
    load: async () => (await import("./pages/sign-up.tsx")).SignUpPage,
  },
  {
    path: "new-password",
    name: "New password",
    for: "everyone",
    load: async () => (await import("./pages/sign-up.tsx")).NewPasswordPage,
  },
  {
    path: "setup",
    name: "Set-up",
    for: "everyone",
    load: async () => (await import("./pages/set-up.tsx")).SetUpPage,
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

import type { Loadable } from "./lib/load.ts";
import type { SessionState } from "./lib/shapes.ts";
import { FrontPage } from "./pages/front.tsx";
import { SignInPage } from "./pages/sign-in.tsx";

/** Who sees a page; a visitor is sent to sign in. */
type For = "everyone" | "visitor" | "account" | "admin";
type ServicePart = SessionState["parts"][number];

export interface Page extends Loadable {
  /** Below the base: "" is the first page. */
  readonly path: string;
  readonly for: For;
  readonly part?: ServicePart | undefined;
}

type Row = readonly [path: string, who: For, load: Page["load"], part?: ServicePart];

const ROWS: readonly Row[] = [
  ["", "visitor", () => Promise.resolve(FrontPage)],
  ["", "account", async () => (await import("./pages/check.tsx")).CheckPage],
  ["lists", "account", async () => (await import("./pages/bulk/lists.tsx")).ListsPage, "lists"],
  ["gate", "account", async () => (await import("./pages/policy.tsx")).PolicyPage, "gate"],
  [
    "gate/decisions",
    "account",
    async () => (await import("./pages/decisions.tsx")).DecisionsPage,
    "gate",
  ],
  ["gate/hooks", "account", async () => (await import("./pages/hooks.tsx")).HooksPage, "gate"],
  ["usage", "account", async () => (await import("./pages/usage.tsx")).UsagePage],
  ["keys", "account", async () => (await import("./pages/keys.tsx")).KeysPage],
  ["settings", "account", async () => (await import("./pages/settings.tsx")).SettingsPage],
  ["admin/system", "admin", async () => (await import("./pages/system.tsx")).SystemPage],
  ["admin/accounts", "admin", async () => (await import("./pages/accounts.tsx")).AccountsPage],
  ["admin/rules", "admin", async () => (await import("./pages/rules.tsx")).RulesPage],
  ["pricing", "everyone", async () => (await import("./pages/plans.tsx")).PlansPage],
  ["sign-in", "everyone", () => Promise.resolve(SignInPage)],
  ["sign-up", "everyone", async () => (await import("./pages/sign-up.tsx")).SignUpPage],
  ["new-password", "everyone", async () => (await import("./pages/sign-up.tsx")).NewPasswordPage],
  ["setup", "everyone", async () => (await import("./pages/set-up.tsx")).SetUpPage],
];

/** Every page of the dashboard. The server answers these paths with the app. */
export const PAGES: readonly Page[] = ROWS.map(([path, who, load, part]) => {
  return { path, for: who, load, part };
});

export type Link = readonly [path: string, name: string, icon?: string];

/** The rail, each page with the path of a small drawing. */
export const RAIL = {
  main: [
    ["", "Check", "M3 9.5l4 4L15 4.5"],
    ["lists", "Lists", "M3 4.5h12M3 9h12M3 13.5h8"],
    ["gate", "Gate", "M9 2l6 2.5v4c0 4-2.6 6.3-6 7.5-3.4-1.2-6-3.5-6-7.5v-4z"],
    ["usage", "Usage", "M3 15V9M7 15V3M11 15v-4M15 15V6"],
  ],
  Account: [
    ["keys", "Keys"],
    ["settings", "Settings"],
  ],
  Operator: [
    ["admin/system", "System"],
    ["admin/accounts", "Accounts"],
    ["admin/rules", "Rules"],
  ],
} as const satisfies Readonly<Record<string, readonly Link[]>>;

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

import { session } from "./lib/session.ts";
import { type Loader } from "./parts/page.tsx";
import * as check from "./pages/check.tsx";
import * as front from "./pages/front.tsx";
import * as signIn from "./pages/sign-in.tsx";

type For = "everyone" | "visitor" | "account" | "admin";

export type DashboardPage = readonly [path: string, who: For, load: Loader];

export const PAGES: readonly DashboardPage[] = [
  ["", "visitor", () => Promise.resolve(front)],
  ["", "account", () => Promise.resolve(check)],
  ["lists", "account", () => import("./pages/lists.tsx")],
  ["gate", "account", () => import("./pages/policy.tsx")],
  ["gate/decisions", "account", () => import("./pages/decisions.tsx")],
  ["gate/hooks", "account", () => import("./pages/hooks.tsx")],
  ["usage", "account", () => import("./pages/usage.tsx")],
  ["keys", "account", () => import("./pages/keys.tsx")],
  ["settings", "account", () => import("./pages/settings.tsx")],
  ["admin/system", "admin", () => import("./pages/system.tsx")],
  ["admin/accounts", "admin", () => import("./pages/accounts.tsx")],
  ["admin/rules", "admin", () => import("./pages/rules.tsx")],
  // Answers of the API have it as `upgrade_url`.
  ["pricing", "visitor", () => Promise.resolve(front)],
  ["pricing", "account", () => import("./pages/usage.tsx")],
  ["sign-in", "everyone", () => Promise.resolve(signIn)],
  ["sign-up", "everyone", () => Promise.resolve({ Page: signIn.SignUp })],
  ["new-password", "everyone", () => Promise.resolve({ Page: signIn.NewPassword })],
  ["setup", "everyone", () => import("./pages/set-up.tsx")],
];

export type RailLink = readonly [path: string, name: string, icon?: string];

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
} as const satisfies Readonly<Record<string, readonly RailLink[]>>;

export function isOpen([, who]: DashboardPage): boolean {
  const { account } = session.value;
  if (who === "everyone") return true;
  if (who === "visitor") return account === undefined;
  return account !== undefined && (who === "account" || account.admin);
}

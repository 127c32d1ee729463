import { readFileSync } from "node:fs";
import { hostNotAllowed } from "../../base/refusals.ts";
import { filePages, keptText } from "../files.ts";
import { isAllowedFor } from "../hosts.ts";
import type { RouteReply } from "../route.ts";
import type { Page, PageRequest } from "../routes.ts";
import { basePathOf } from "../target.ts";
import { adminRoutes } from "./admin.ts";
import { decisionRoutes } from "./decisions.ts";
import { hookRoutes, policyRoutes } from "./gate.ts";
import { type AccountGuardDeps, accountPages } from "./guard.ts";
import { listRoutes } from "./lists.ts";
import {
  exportRoute,
  keyRoutes,
  ownRoutes,
  signInRoutes,
  watchRoutes,
  webhookRoutes,
} from "./own.ts";
import type { AccountRoute } from "./route.ts";
import { ruleRoutes } from "./rules.ts";

export interface DashboardDeps extends AccountGuardDeps {
  readonly pages?: BuiltPages | undefined;
}

export const ROUTES = [
  ...signInRoutes,
  ...ownRoutes,
  ...keyRoutes,
  ...listRoutes,
  ...webhookRoutes,
  ...watchRoutes,
  ...policyRoutes,
  ...decisionRoutes,
  ...hookRoutes,
  ...adminRoutes,
  ...ruleRoutes,
];
export const ACCOUNT_ROUTES: readonly AccountRoute[] = [...ROUTES, exportRoute(ROUTES)];

/** The dashboard's API and, where they are built, its pages. */
export function dashboard(deps: DashboardDeps): DashboardPages {
  const api = accountPages(ACCOUNT_ROUTES, deps);
  if (deps.pages === undefined) return { pages: api, absent: () => undefined };
  const built = dashboardPages(deps.pages, basePathOf(deps.info.publicUrl()), deps.isHostAllowed);
  return { ...built, pages: [...api, ...built.pages] };
}

/** The paths that the browser's program reads, each answered with the same file, and the page's own source. */
export const PAGE_SOURCES: Readonly<Record<string, string>> = {
  "/": "pages/front.tsx", // a part of the first script
  "/lists": "pages/lists.tsx",
  "/gate": "pages/policy.tsx",
  "/gate/decisions": "pages/decisions.tsx",
  "/gate/hooks": "pages/hooks.tsx",
  "/usage": "pages/usage.tsx",
  "/keys": "pages/keys.tsx",
  "/settings": "pages/settings.tsx",
  "/admin/system": "pages/system.tsx",
  "/admin/accounts": "pages/accounts.tsx",
  "/admin/rules": "pages/rules.tsx",
  "/pricing": "pages/front.tsx",
  "/sign-in": "pages/sign-in.tsx",
  "/sign-up": "pages/sign-in.tsx",
  "/new-password": "pages/sign-in.tsx",
  "/setup": "pages/set-up.tsx",
};

const OWN = "script-src style-src font-src img-src connect-src form-action base-uri".split(" ");
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  ...OWN.map((directive) => `${directive} 'self'`),
  "frame-ancestors 'none'",
].join("; ");

const PAGE_HEADERS = {
  "content-security-policy": CONTENT_SECURITY_POLICY,
  "cross-origin-opener-policy": "same-origin",
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
} as const;

export interface BuiltPages {
  readonly root: string;
  readonly manifest: Manifest;
}

export const MANIFEST_FILE = "manifest.json";

export interface DashboardPages {
  readonly pages: readonly Page[];
  readonly absent: (request: PageRequest) => RouteReply | undefined;
}

/** Serves the built dashboard. `base`: the path of the public URL. */
function dashboardPages(
  { root, manifest }: BuiltPages,
  base: string,
  isHostAllowed: DashboardDeps["isHostAllowed"],
): DashboardPages {
  const source = readFileSync(`${root}/index.html`, "utf8");
  const html = source.replace('<base href="/"', `<base href="${base}/"`);
  const page = (more: object) =>
    keptText("text/html; charset=utf-8", { ...PAGE_HEADERS, ...more }, () => html);
  const plain = page({});
  const guarded = (each: Page): Page => ({
    ...each,
    handle(request) {
      if (!isAllowedFor(request.source, isHostAllowed)) throw hostNotAllowed();
      return each.handle(request);
    },
  });
  const visits = Object.entries(PAGE_SOURCES).map(([path, name]): Page => {
    const files = chunksOf(name, manifest);
    const link = files.map((file) => `<${base}/${file}>; rel=modulepreload`).join(", ");
    return { method: "GET", path, handle: page(link === "" ? {} : { link }) };
  });
  const files = filePages({
    root,
    at: "/",
    except: new Set(["index.html", MANIFEST_FILE]),
    headersOf: (name) => ({
      "cache-control": name.startsWith("assets/")
        ? "public, max-age=31536000, immutable" // it is named by its content
        : "public, max-age=86400",
      "x-content-type-options": "nosniff",
    }),
  });
  return {
    pages: [...visits, ...files].map(guarded),
    absent(request) {
      const { path } = request.target;
      if (!isAllowedFor(request.source, isHostAllowed)) throw hostNotAllowed();
      const { accept = "" } = request.source.headers;
      // A person followed a stale or mistyped link: the page says so and leads on.
      if (!accept.includes("text/html") || NO_PAGES.test(path)) return undefined;
      const isPage = path.endsWith("/") && Object.hasOwn(PAGE_SOURCES, path.slice(0, -1));
      return isPage ? plain(request) : { ...plain({ source: { headers: {} } }), status: 404 };
    },
  };
}

const NO_PAGES = /^\/(?:account|api|assets|docs)(?:\/|$)/;

/** A source in the build: its chunk, and the sources whose chunks it imports. */
interface BuiltChunk {
  readonly file: string;
  readonly isEntry?: boolean;
  readonly imports?: readonly string[];
}
export type Manifest = Readonly<Record<string, BuiltChunk>>;

/**
 * Files of a page's chunk and of all it imports, without those of the first script: the browser fetches them beside that
 * instead of after it.
 */
function chunksOf(source: string, manifest: Manifest): readonly string[] {
  const known = new Set<string>();
  const waiting = [source];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const chunk = manifest[name];
    if (chunk === undefined || chunk.isEntry === true || known.has(chunk.file)) continue;
    known.add(chunk.file);
    waiting.push(...(chunk.imports ?? []));
  }
  return [...known];
}

import fastifyStatic from "@fastify/static";
import type { FastifyInstance, FastifyReply } from "fastify";
import { hostNotAllowed } from "../../base/refusals.ts";
import { type HostCheck, isAllowedFor } from "../request/allowed-hosts.ts";
import { refuse } from "../system/framework.ts";
import { readTarget } from "../request/target.ts";

/** The paths that the browser's program reads, each answered with the same file, and the page's own source. */
export const PAGE_SOURCES: Readonly<Record<string, string>> = {
  "/": "pages/front/front.tsx", // a part of the first script
  "/lists": "pages/bulk/lists.tsx",
  "/policy": "pages/policy/policy.tsx",
  "/keys": "pages/account/keys.tsx",
  "/usage": "pages/account/usage.tsx",
  "/webhooks": "pages/webhooks/webhooks.tsx",
  "/hooks": "pages/webhooks/hooks.tsx",
  "/credits": "pages/account/credits.tsx",
  "/guide": "pages/guide.tsx",
  "/pricing": "pages/account/plans.tsx",
  "/settings": "pages/account/settings.tsx",
  "/sign-in": "pages/sign-in/sign-in.tsx",
  "/setup": "pages/sign-in/set-up.tsx",
  "/sign-up": "pages/sign-in/sign-up.tsx",
  "/admin/accounts": "pages/admin/accounts.tsx",
  "/admin/lists": "pages/admin/lists.tsx",
  "/admin/system": "pages/admin/system.tsx",
};

/** Everything comes from this server, nothing is inline, and no site may frame the page. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

const PAGE_HEADERS = {
  "content-security-policy": CONTENT_SECURITY_POLICY,
  "cache-control": "no-cache",
  "cross-origin-opener-policy": "same-origin",
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
} as const;

const YEAR_SECONDS = 31_536_000;

/** The built dashboard. */
export interface BuiltPages {
  /** Absolute path of `dist/dashboard`. */
  readonly root: string;
  /** The build's own word on what became of each source. */
  readonly manifest: Manifest;
}

/** Its file beside the pages; never served. */
export const MANIFEST_FILE = "manifest.json";

/** Serves the built dashboard. */
export async function addDashboardPages(
  app: FastifyInstance,
  { root, manifest }: BuiltPages,
  isHostAllowed: HostCheck,
): Promise<void> {
  app.addHook("onRequest", async ({ headers, originalUrl: url }, reply) => {
    if (!isAllowedFor({ headers, url }, isHostAllowed)) return refuse(reply, hostNotAllowed());
  });
  await app.register(fastifyStatic, {
    root,
    index: false,
    wildcard: false,
    cacheControl: false,
    preCompressed: true,
    globIgnore: [".built", "index.html", MANIFEST_FILE, "**/*.gz"],
    setHeaders: (reply, path) => {
      if (path.endsWith("index.html")) return;
      const isNamedByContent = path.includes("/assets/");
      const days = isNamedByContent
        ? `max-age=${String(YEAR_SECONDS)}, immutable`
        : "max-age=86400";
      reply.header("cache-control", `public, ${days}`);
      reply.header("x-content-type-options", "nosniff");
    },
  });
  const page = (reply: FastifyReply, link: string): FastifyReply =>
    reply
      .headers(link === "" ? PAGE_HEADERS : { ...PAGE_HEADERS, link })
      .sendFile("index.html", { cacheControl: false });
  for (const [path, source] of Object.entries(PAGE_SOURCES)) {
    const link = chunksOf(source, manifest).map(hint).join(", ");
    app.route({ method: ["GET", "HEAD"], url: path, handler: (_, reply) => page(reply, link) });
  }
  app.get("/*", { exposeHeadRoute: false }, async (request, reply) => {
    const { path } = readTarget(request.originalUrl);
    if (!isVisit(path, request.headers.accept)) return reply.callNotFound();
    const isPage = path.endsWith("/") && Object.hasOwn(PAGE_SOURCES, path.slice(0, -1));
    return page(reply.code(isPage ? 200 : 404), "");
  });
}

/** Paths below which programs ask. */
const NO_PAGES = /^\/(?:account|api|assets|docs)(?:\/|$)/;

/** A person followed a stale or mistyped link: the page says so and leads on. Programs get JSON. */
const isVisit = (path: string, accept = ""): boolean =>
  accept.includes("text/html") && !NO_PAGES.test(path);

/** A source in the build: its chunk, and the sources whose chunks it imports. */
interface Chunk {
  readonly file: string;
  readonly isEntry?: boolean;
  readonly imports?: readonly string[];
}
export type Manifest = Readonly<Record<string, Chunk>>;

/** Files of a page's chunk and of all it imports, without those of the first script. */
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

/** The browser fetches it beside the first script instead of after it. */
const hint = (file: string): string => `</${file}>; rel=modulepreload`;

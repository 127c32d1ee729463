import fastifyStatic from "@fastify/static";
import type { FastifyInstance, FastifyReply } from "fastify";

/** The paths that the browser's program reads: each is answered with the same file. */
export const PAGE_PATHS = [
  "/",
  "/lists",
  "/keys",
  "/usage",
  "/webhooks",
  "/credits",
  "/guide",
  "/pricing",
  "/settings",
  "/sign-in",
  "/sign-up",
  "/admin/accounts",
  "/admin/system",
] as const;

/** Everything comes from this server, nothing stands inside the page, and nobody may frame it. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
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

/** Serves the built dashboard. `root` is the absolute path of `dist/dashboard`. */
export async function addDashboardPages(app: FastifyInstance, root: string): Promise<void> {
  await app.register(fastifyStatic, {
    root,
    index: false,
    wildcard: false,
    cacheControl: false,
    preCompressed: true,
    globIgnore: [".built", "index.html", "**/*.gz"],
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
  const page = (reply: FastifyReply): FastifyReply =>
    reply.headers(PAGE_HEADERS).sendFile("index.html", { cacheControl: false });
  for (const path of PAGE_PATHS) {
    app.route({ method: ["GET", "HEAD"], url: path, handler: (_, reply) => page(reply) });
  }
}

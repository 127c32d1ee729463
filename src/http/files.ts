import sirv from "sirv";
import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import type { HttpRequest, RouteReply } from "./route.ts";
import type { Page } from "./routes.ts";

interface FileTerms {
  readonly root: string;
  readonly at: string;
  readonly except: ReadonlySet<string>;
  readonly headersOf: (name: string) => Readonly<Record<string, string>>;
}

/** A page for each file of a folder; a "*.gz" beside a file is what clients get that take gzip. */
export function filePages({ root, at, except, headersOf }: FileTerms): readonly Page[] {
  const names = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/^\.|\.gz$/.test(entry.name))
    .map((entry) => `${entry.parentPath}/${entry.name}`.slice(root.length).replace(/^\/+/, ""))
    .filter((name) => !except.has(name));
  const serve = sirv(root, { etag: true, gzip: true });
  return names.map((name) => ({
    method: "GET",
    path: at + name,
    handle: ({ source, response }) => {
      for (const [header, value] of Object.entries(headersOf(name))) {
        response.setHeader(header, value);
      }
      source.url = `/${name}`;
      source.headers["accept-encoding"] = takesGzip(source) ? "gzip" : "";
      serve(source, response);
      return undefined;
    },
  }));
}

/** Whether the answer may be gzip: a quality of "gzip" itself counts before that of "*" (RFC 9110 section 12.5.3). */
export function takesGzip({ headers }: Pick<HttpRequest, "headers">): boolean {
  const qualities = new Map<string, number>();
  for (const each of String(headers["accept-encoding"] ?? "")
    .toLowerCase()
    .split(",")) {
    const [coding = "", ...parameters] = each.split(";").map((part) => part.trim());
    const quality = parameters.find((parameter) => /^q\s*=/.test(parameter)) ?? "q=1";
    qualities.set(coding, Number(quality.slice(quality.indexOf("=") + 1)));
  }
  return (qualities.get("gzip") ?? qualities.get("*") ?? 0) > 0;
}

/**
 * Serves a text that clients may keep if they ask each time whether it has changed. It is made and hashed once, when it
 * is first asked for: to hash 175 KB takes longer than to send them.
 */
export function keptText(
  type: string,
  headers: Readonly<Record<string, string>>,
  make: () => string,
): (request: { readonly source: Pick<HttpRequest, "headers"> }) => RouteReply {
  let whole: (RouteReply & { readonly headers: { readonly etag: string } }) | undefined;
  return ({ source }) => {
    whole ??= wholeReply(type, headers, Buffer.from(make()));
    const isKept = isCurrent(source.headers["if-none-match"], whole.headers.etag);
    return isKept ? { status: 304, headers: whole.headers } : whole;
  };
}

function wholeReply(type: string, headers: Readonly<Record<string, string>>, body: Buffer) {
  const etag = `"${createHash("sha256").update(body).digest("hex").slice(0, 32)}"`;
  return { type, headers: { ...headers, etag, "cache-control": "no-cache" }, body };
}

/** RFC 9110 section 13.1.2, If-None-Match: weak comparison, because a proxy may have marked the tag as weak. */
export function isCurrent(held: string | undefined, etag: string): boolean {
  if (held === undefined) return false;
  const strong = (tag: string): string => tag.trim().replace(/^W\//, "");
  const tags = held.slice(0, 1_000).split(",").map(strong);
  return tags.includes("*") || tags.includes(strong(etag));
}

const DOCS_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  // The hash is of the one style element that the viewer makes.
  "style-src 'self' 'sha256-RL3ie0nH+Lzz2YNqQN83mnU0J1ot4QL7b99vMdIX99w='",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join(";");

const DOCS_HEADERS = {
  "content-security-policy": DOCS_POLICY,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "SAMEORIGIN",
};

const docsHtml = (base: string): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Gatepost API</title>
    <link rel="icon" href="${base}/favicon.svg" type="image/svg+xml" />
    <link rel="stylesheet" href="${base}/docs/static/swagger-ui.css" />
  </head>
  <body>
    <nav class="swagger-ui"><div class="wrapper"><a class="link" href="${base}/">Gatepost</a></div></nav>
    <div id="swagger-ui"></div>
    <script src="${base}/docs/static/swagger-ui-bundle.js"></script>
    <script src="${base}/docs/static/start.js"></script>
  </body>
</html>
`;

const docsScript = (base: string): string => `SwaggerUIBundle({
  url: "${base}/openapi.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  docExpansion: "list",
  tryItOutEnabled: true,
  validatorUrl: null,
});
`;

/** `/docs`: the OpenAPI document rendered. `viewer`: the folder of the viewer's files; undefined where it was not built. */
export function docsPages(base: string, viewer: string | undefined): readonly Page[] {
  const answer = (path: string, type: string, body: string): Page => ({
    method: "GET",
    path,
    handle: keptText(`${type}; charset=utf-8`, DOCS_HEADERS, () => body),
  });
  return [
    answer("/docs", "text/html", docsHtml(base)),
    answer("/docs/", "text/html", docsHtml(base)),
    answer("/docs/static/start.js", "text/javascript", docsScript(base)),
    ...(viewer === undefined
      ? []
      : filePages({
          root: viewer,
          at: "/docs/static/",
          except: new Set(),
          headersOf: () => ({ ...DOCS_HEADERS, "cache-control": "no-cache" }),
        })),
  ];
}

import { filePages, kept } from "./files.ts";
import type { Page } from "./routes.ts";

/** Everything the rendered documentation needs comes from this server, and nothing may frame it. */
const CONTENT_SECURITY_POLICY = [
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

const HEADERS = {
  "content-security-policy": CONTENT_SECURITY_POLICY,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "origin-agent-cluster": "?1",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-dns-prefetch-control": "off",
  "x-download-options": "noopen",
  "x-frame-options": "SAMEORIGIN",
  "x-permitted-cross-domain-policies": "none",
  "x-xss-protection": "0",
};

const html = (base: string): string => `<!doctype html>
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

const start = (base: string): string => `SwaggerUIBundle({
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
    handle: ({ source }) =>
      kept(source, { type: `${type}; charset=utf-8`, headers: HEADERS, body }),
  });
  return [
    answer("/docs", "text/html", html(base)),
    answer("/docs/", "text/html", html(base)),
    answer("/docs/static/start.js", "text/javascript", start(base)),
    ...(viewer === undefined
      ? []
      : filePages({
          root: viewer,
          at: "/docs/static/",
          except: new Set(),
          headersOf: () => ({ ...HEADERS, "cache-control": "no-cache" }),
        })),
  ];
}

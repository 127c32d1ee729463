import type { Page } from "../routes.ts";
import { WIDGET } from "./widget.ts";

const SCRIPT = {
  "x-content-type-options": "nosniff",
  "access-control-allow-origin": "*",
  "cross-origin-resource-policy": "cross-origin",
};

/** The script of sign-up pages, under its own name and for good under the one with its hash. */
export const gatePages: readonly Page[] = (
  [
    ["/widget.js", "public, max-age=300"],
    [`/widget-${WIDGET.hash}.js`, "public, max-age=31536000, immutable"],
  ] as const
).map(([path, cache]) => ({
  method: "GET",
  path,
  handle: () => ({
    type: "text/javascript; charset=utf-8",
    headers: { ...SCRIPT, "cache-control": cache },
    body: WIDGET.source,
  }),
}));

import { createHash } from "node:crypto";
import { widget } from "../../core/tables/texts.ts";
import type { Page } from "../routes.ts";

export const WIDGET = {
  source: widget,
  /** Of the source: a page may name it for good. */
  hash: createHash("sha256").update(widget).digest("hex").slice(0, 16),
};

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

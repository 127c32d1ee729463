import { LARGE_PROVIDERS } from "../../core/tables/large-providers.ts";

/**
 * Names that no list may call disposable: large providers, and names that the curated blocklist of
 * disposable-email-domains holds though they are ordinary mailbox providers, portals and user groups
 * (checked 2026-11).
 */
export const NEVER_DISPOSABLE: ReadonlySet<string> = new Set([
  ...LARGE_PROVIDERS,
  "21cn.com",
  "99.com",
  "express.net.ua",
  "hola.org",
  "in-ulm.de",
  "infocom.zp.ua",
  "yourdomain.com",
  "zzz.com",
]);

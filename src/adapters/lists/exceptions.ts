import { INBOX_PROVIDERS } from "../../core/tables/inbox-providers.ts";
import { LARGE_PROVIDERS } from "../../core/tables/large-providers.ts";
import { SHARED_MAIL_SUFFIXES } from "../../core/tables/mail-servers.ts";

/**
 * Names that no list may call disposable: large providers, domains that carry other people's mail, and names that the curated blocklist of
 * disposable-email-domains holds though they are ordinary mailbox providers, portals and user groups
 * (checked 2026-11).
 */
export const NEVER_DISPOSABLE: ReadonlySet<string> = new Set([
  ...LARGE_PROVIDERS,
  ...SHARED_MAIL_SUFFIXES,
  ...INBOX_PROVIDERS.flatMap(({ suffixes }) => suffixes),
  "21cn.com",
  "99.com",
  "express.net.ua",
  "hola.org",
  "in-ulm.de",
  "infocom.zp.ua",
  "yourdomain.com",
  "zzz.com",
]);

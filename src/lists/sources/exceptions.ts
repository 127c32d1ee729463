import { INBOX_PROVIDERS, LARGE_PROVIDERS, SHARED_MAIL_SUFFIXES } from "../../core/tables/data.ts";

/** On the curated blocklist of disposable-email-domains: mailbox providers, portals, user groups (checked 2026-11). */
const CURATED_BY_MISTAKE = [
  "21cn.com",
  "99.com",
  "express.net.ua",
  "hola.org",
  "in-ulm.de",
  "infocom.zp.ua",
  "sify.com",
  "yourdomain.com",
  "zzz.com",
];

/**
 * On other lists, and mailbox providers or internet providers all the same: their owners and the keepers of lists
 * say so (FGRibreau/mailchecker #610 of Fastmail's, wesbos/burner-email-providers #478,
 * disposable-email-domains #48 and #49, disposable/disposable #13), or it is plain (Orange, Hushmail, SDF, the paid
 * mailboxes of Sohu and TOM). Names from which Meta, craigslist, Debian and a London borough send are among them.
 */
const LISTED_BY_MISTAKE = [
  "account.meta.com",
  "angi.com",
  "atomicmail.io",
  "beliefnet.com",
  "blogs.com",
  "citizensonline.com",
  "com.com",
  "craigslist.org",
  "facebookmail.com",
  "fastmessaging.com",
  "feedspot.com",
  "first-state.net",
  "gaggle.net",
  "gocardless.dev",
  "gofo.com",
  "google.tm",
  "gta.com",
  "hayalhost.com",
  "hidemyass.com",
  "ibibo.com",
  "joi.com",
  "lavabit.com",
  "link-assistant.com",
  "mac.hush.com",
  "mail.instagram.com",
  "mailhaven.com",
  "mamba.ru",
  "micronews.debian.org",
  "mtu-net.ru",
  "myabandonware.com",
  "news.hackney.gov.uk",
  "nextag.com",
  "nospammail.net",
  "reallyfast.info",
  "safe-mail.net",
  "salla.dev",
  "sdf.org",
  "seomoz.org",
  "sibmail.com",
  "support.facebook.com",
  "unimail.com",
  "veryfast.biz",
  "vfemail.net",
  "vip.sohu.com",
  "vip.tom.com",
  "vipmail.net",
  "wanadoo.com",
  "www.googletagmanager.com",
];

/** Names that no list may call disposable, domains that carry other people's mail among them. */
export const NEVER_DISPOSABLE: ReadonlySet<string> = new Set([
  ...LARGE_PROVIDERS,
  ...SHARED_MAIL_SUFFIXES,
  ...INBOX_PROVIDERS.flatMap(({ suffixes }) => suffixes),
  ...CURATED_BY_MISTAKE,
  ...LISTED_BY_MISTAKE,
]);

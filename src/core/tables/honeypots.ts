/**
 * Local parts that only traps have, lower case. Left out on purpose: "abuse" and "postmaster", which
 * every domain must have (RFC 2142, RFC 5321 section 4.5.1), and "spam", "nospam", "noreply", "test", "null" and
 * the like, which people use as real filter addresses.
 */
export const HONEYPOT_LOCAL_PARTS: ReadonlySet<string> = new Set([
  "spamtrap",
  "spam-trap",
  "spam.trap",
  "spam_trap",
  "honeypot",
  "honey-pot",
  "honeytrap",
  "honey-trap",
  "mailtrap-bait",
  "trap",
  "bait",
  "spambait",
  "antispam-trap",
  "uce-trap",
  "dontmail",
  "donotmail",
  "do-not-mail",
  "nospamplease-trap",
]);

/**
 * Hosts of lasting anonymous mailboxes (the cock.li family). Curated feeds hold them, and people really use them, so a
 * curated hit on one of these names counts as `blacklist_single`. Source: 13 organisations of this family among 52,025
 * were called disposable when castle's names were added (measured 2026-11-22).
 */
export const ANONYMOUS_HOSTS: ReadonlySet<string> = new Set([
  "airmail.cc",
  "cock.email",
  "cock.li",
  "cocaine.ninja",
  "cumallover.me",
  "firemail.cc",
  "goat.si",
  "horsefucker.org",
  "memeware.net",
  "national.shitposting.agency",
  "nigge.rs",
  "nuke.africa",
  "rape.lol",
  "tfwno.gf",
  "waifu.club",
]);

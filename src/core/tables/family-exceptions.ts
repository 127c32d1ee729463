/**
 * Registrable domains under which anybody takes a name and many honest people do: dynamic DNS, free
 * redirections. Listed names below them say nothing about the others. Names on the public suffix list need no row.
 * Found among 95 families of the bundled curated feeds (2026-11) and in the false alarms of the measurement of
 * 2026-11-22 (linkpc.net, work.gd).
 */
export const FAMILY_EXCEPTIONS: ReadonlySet<string> = new Set([
  "asso.st",
  "infos.st",
  "kro.kr",
  "linkpc.net",
  "love.gd",
  "loves-beer.com",
  "publicvm.com",
  "run.place",
  "work.gd",
]);

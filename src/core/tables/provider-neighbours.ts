/**
 * Real names that lie one letter from a large provider and need not be in any list of free mailboxes: mail
 * services met on the bundled lists (2026-11), and words of the dictionary. Of the one-letter mails those
 * whose letter lies beside the "g" stay slips of gmail.com.
 */
export const REAL_NEIGHBOURS: ReadonlySet<string> = new Set([
  ...Array.from("acdeijklmnopqrstuwxz248", (letter) => `${letter}mail.com`),
  "ancor.de",
  "aver.com",
  "boxmail.com",
  "celia.com",
  "chapter.net",
  "charters.net",
  "delia.com",
  "fboxmail.com",
  "frontiers.com",
  "gambler.ru",
  "gotmail.com",
  "grange.fr",
  "lastmail.com",
  "libera.it",
  "liberi.it",
  "malice.it",
  "marcor.de",
  "never.com",
  "notmail.com",
  "oranges.fr",
  "paver.com",
  "raver.com",
  "rodgers.com",
  "roger.com",
  "saver.com",
  "serra.com.br",
  "simpatico.ca",
  "slice.it",
  "vastmail.com",
  "waver.com",
]);

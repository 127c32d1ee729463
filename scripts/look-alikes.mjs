// Writes tables/look-alikes.txt from confusables.json of the Debian package python3-confusable-homoglyphs (Unicode, UTS 39):
//   node scripts/look-alikes.mjs .../confusable_homoglyphs/confusables.json
import { readFileSync, writeFileSync } from "node:fs";
import { toASCII } from "tr46";

const confusables = JSON.parse(readFileSync(process.argv[2], "utf8"));
const bare = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "");
// Letters that a registry may give out, and that stay letters of their own without accents.
const isOwn = (letter) =>
  [...letter].length === 1 &&
  /^\p{L}$/u.test(letter) &&
  !/^[a-z]$/.test(bare(letter).toLowerCase()) &&
  toASCII(`${letter}a`, { useSTD3ASCIIRules: true, verifyDNSLength: true })?.startsWith("xn--") &&
  !/^\p{Lu}$/u.test(letter) &&
  letter === letter.normalize("NFKC").toLowerCase();
const rows = "abcdefghijklmnopqrstuvwxyz".split("").map((plain) => {
  const twins = (confusables[plain] ?? []).map(({ c }) => c).filter(isOwn);
  return `${plain}\t${[...new Set(twins)].toSorted((a, b) => (a < b ? -1 : 1)).join("")}`;
});
const head =
  "# Letters that look like a Latin one and may stand in a domain name. Source: confusables of Unicode (UTS 39), by scripts/look-alikes.mjs. Columns: letter, its look-alikes.";
const table = rows.filter((row) => !row.endsWith("\t"));
writeFileSync(
  new URL("../tables/look-alikes.txt", import.meta.url),
  `${[head, ...table].join("\n")}\n`,
);

// Annotates the lines of FILE whose entries are bad by the results in CHECKED, writes the job's summary, and ends with 1 if there
// are bad ones.
// Usage: node annotate.mjs FILE CHECKED STATUS,STATUS [COLUMN]
import { appendFileSync, readFileSync } from "node:fs";

const [, , file = "", checked = "", failOn = "", column = ""] = process.argv;
const bad = new Set(failOn.split(",").map((status) => status.trim()));
/** GitHub shows no more errors of a step. */
const ANNOTATED_MAX = 10;
const SUMMARIZED_MAX = 100;

const textLines = (path) => readFileSync(path, "utf8").split(/\r?\n/);
const lines = textLines(file);
const rows = textLines(checked)
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line));

/** "unknown" is an entry that DNS did not answer for: it is neither good nor bad. */
function statusOf({ format, disposable, dns, signals = [] }) {
  if (!format) return "invalid_format";
  if (disposable) return "disposable";
  if (dns) return "valid";
  return signals.includes("dns_indeterminate") ? "unknown" : "invalid_dns";
}

/** By the column's name or number; of a list the entry; else the first text with an at sign. */
function entryOf({ result, ...cells }) {
  const values = Object.values(cells);
  const named = cells[column] ?? values[Number(column) - 1] ?? cells.entry;
  return String(named ?? values.find((value) => String(value).includes("@")) ?? result.domain);
}

/** Escapes as workflow commands want it. */
const data = (text) => text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
const property = (text) => data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");

const say = (text) => process.stdout.write(`${text}\n`);
let from = 0;
const counts = new Map();
const found = [];
for (const row of rows) {
  const { result } = row;
  const entry = entryOf(row);
  const at = lines.findIndex((line, index) => index >= from && line.includes(entry));
  if (at >= 0) from = at;
  const status = statusOf(result);
  counts.set(status, (counts.get(status) ?? 0) + 1);
  if (!bad.has(status)) continue;
  const { message = (result.signals ?? []).join(", "), did_you_mean: meant } = result;
  const hint = meant === undefined ? "" : ` Did you mean ${meant}?`;
  const why = `${entry}: ${status} (${message}).${hint}`;
  found.push(at < 0 ? why : `line ${at + 1}: ${why}`);
  if (found.length > ANNOTATED_MAX) continue;
  const place = `file=${property(file)}${at < 0 ? "" : `,line=${at + 1}`}`;
  say(`::error ${place}::${data(why)}`);
}
const verdict = `${found.length} of ${rows.length} entries are bad.`;
if (found.length > ANNOTATED_MAX) say(`${ANNOTATED_MAX} are annotated, all are in ${checked}`);
say(verdict);

/** Preformatted, because an entry is anybody's text. */
const plain = (text) =>
  text.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`).replace(/\s+/g, " ");
const summary = [
  `### Gatepost: ${verdict}\n`,
  "|Status|Entries|\n|---|--:|",
  ...[...counts].map(([status, count]) => `|${status}|${count}|`),
  ...(found.length > 0 ? ["\n<pre>", ...found.slice(0, SUMMARIZED_MAX).map(plain), "</pre>"] : []),
  ...(found.length > SUMMARIZED_MAX ? [`\n${found.length - SUMMARIZED_MAX} more.`] : []),
];
for (const [name, text] of [
  ["GITHUB_STEP_SUMMARY", summary.join("\n")],
  ["GITHUB_OUTPUT", `bad=${found.length}`],
]) {
  const path = process.env[name];
  if (path !== undefined) appendFileSync(path, `${text}\n`);
}
process.exitCode = found.length === 0 ? 0 : 1;

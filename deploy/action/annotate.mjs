// Annotates the lines of FILE whose entries are bad by the results in CHECKED, and ends with 1 if there are any.
// Usage: node annotate.mjs FILE CHECKED STATUS,STATUS [COLUMN]
import { appendFileSync, readFileSync } from "node:fs";

const [, , file = "", checked = "", failOn = "", column = ""] = process.argv;
const bad = new Set(failOn.split(",").map((status) => status.trim()));
const SHOWN_MAX = 50;

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
let count = 0;
for (const row of rows) {
  const { result } = row;
  const entry = entryOf(row);
  const at = lines.findIndex((line, index) => index >= from && line.includes(entry));
  if (at >= 0) from = at;
  const status = statusOf(result);
  if (!bad.has(status)) continue;
  count += 1;
  if (count > SHOWN_MAX) continue;
  const { message = (result.signals ?? []).join(", "), did_you_mean: meant } = result;
  const hint = meant === undefined ? "" : ` Did you mean ${meant}?`;
  const place = `file=${property(file)}${at < 0 ? "" : `,line=${at + 1}`}`;
  say(`::error ${place}::${data(`${entry}: ${status} (${message}).${hint}`)}`);
}
if (count > SHOWN_MAX) say(`::notice::${count - SHOWN_MAX} more are in ${data(checked)}.`);
say(`${count} of ${rows.length} entries are bad.`);
const output = process.env["GITHUB_OUTPUT"];
if (output !== undefined) appendFileSync(output, `bad=${count}\n`);
process.exitCode = count === 0 ? 0 : 1;

import { readFileSync } from "node:fs";

/**
 * Packs the two large tables of dependencies, without loss. The IDNA mapping table (tr46) shrinks from 46 KB of gzip to
 * 12 KB: its 9,262 rows follow each other without gaps, so that lengths, statuses and differences say it all. The public
 * suffixes (tldts) stay as they are but for their 60 KB text, which minifiers would copy to each place that reads it.
 */
export function compactTables() {
  return {
    name: "compact-tables",
    load(id) {
      if (/tr46[\\/]lib[\\/]mappingTable\.json$/.test(id)) {
        const code = mappingModule(JSON.parse(readFileSync(id, "utf8")));
        return { code, moduleType: "js" };
      }
      if (/tldts[\\/]dist[\\/]es6[\\/]src[\\/]data[\\/]trie\.js$/.test(id)) {
        const text = readFileSync(id, "utf8");
        const packed = text.replace(
          /^(export const labelText = )("(?:[^"\\]|\\.)*");$/m,
          (_, head, value) => `${head}JSON.parse(${JSON.stringify(value)});`,
        );
        if (packed === text) throw new Error(`${id}: no text of labels`);
        return packed;
      }
      return undefined;
    },
  };
}

/** A module that makes the rows `[range, status, mapping]` again. */
function mappingModule(rows) {
  const lengths = [];
  let statuses = "";
  const mappings = [];
  let next = 0;
  let previous = 0;
  for (const [range, status, mapping] of rows) {
    const [first, last] = Array.isArray(range) ? range : [range, range];
    if (first !== next) throw new Error(`mapping table: a gap before ${String(first)}`);
    next = last + 1;
    lengths.push((last - first).toString(36));
    statuses += String(status);
    if ((mapping === undefined) === MAPPED.includes(status))
      throw new Error("mapping table: shape");
    if (mapping === undefined) continue;
    const codes = [...mapping].map((character) => character.codePointAt(0));
    if (codes.length === 1) {
      mappings.push((codes[0] - previous).toString(36));
      previous = codes[0];
    } else mappings.push(`'${mapping}`);
  }
  if (mappings.some((mapping) => mapping.includes("\n")))
    throw new Error("mapping table: a line feed");
  const parts = [lengths.join(), statuses, mappings.join("\n")].map((part) => JSON.stringify(part));
  return `${unpack.toString()}\nmodule.exports = unpack(${parts.join(", ")});\n`;
}

/** Statuses whose rows have a mapping: mapped, deviation. */
const MAPPED = [1, 6];

/** Becomes a part of the package. */
function unpack(lengths, statuses, mappings) {
  const left = mappings.split("\n").values();
  let next = 0;
  let previous = 0;
  return lengths.split(",").map((text, at) => {
    const first = next;
    const last = first + parseInt(text, 36);
    next = last + 1;
    const status = Number(statuses[at]);
    const range = first === last ? first : [first, last];
    if (status !== 1 && status !== 6) return [range, status];
    const mapping = left.next().value;
    if (mapping.startsWith("'")) return [range, status, mapping.slice(1)];
    previous += parseInt(mapping, 36);
    return [range, status, String.fromCodePoint(previous)];
  });
}

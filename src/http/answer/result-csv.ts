import { RESULT_COLUMNS, csvCells, resultCells } from "../../core/batch/result-cells.ts";
import type { FullResult } from "../../core/validate/result.ts";

/** How a well-formed entry's result begins. Nothing in a well-formed domain is escaped. */
const BEFORE_DOMAIN = '{"format":true,"domain":"';

const DOMAIN_AT = RESULT_COLUMNS.indexOf("domain");

/** Beyond it, results are read one by one. */
const KEPT_MAX = 512;

/**
 * The cells of a result, from its JSON. What stands behind the domain decides every other cell, and is the same for
 * thousands of results of a list: reading it once takes a third of the time.
 */
export function resultCsv(): (result: string) => string {
  const kept = new Map<string, (domain: string) => string>();
  return (result) => {
    const end = result.indexOf('"', BEFORE_DOMAIN.length);
    const domain = result.slice(BEFORE_DOMAIN.length, end);
    if (!result.startsWith(BEFORE_DOMAIN) || domain.includes("\\")) return csvCells(read(result));
    const rest = result.slice(end);
    const known = kept.get(rest);
    if (known !== undefined) return known(domain);
    const cells = around(read(result));
    if (kept.size < KEPT_MAX) kept.set(copied(rest), cells);
    return cells(domain);
  };
}

const read = (result: string) => resultCells(JSON.parse(result) as FullResult);

/** The cells with any domain in their midst. */
function around(cells: ReturnType<typeof read>): (domain: string) => string {
  const before = csvCells(cells.slice(0, DOMAIN_AT));
  const behind = csvCells(cells.slice(DOMAIN_AT + 1));
  return (domain) => `${before},${csvCells([domain])},${behind}`;
}

/** V8 keeps the whole page of results in memory for a part of it. */
const copied = (part: string): string => Buffer.from(part).toString();

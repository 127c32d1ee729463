import { join } from "node:path";
import type { Census, CensusStore } from "../../../ports/evidence/census.ts";
import { textOf, writeWhole } from "./feed-copy.ts";

/** Counts made here, and counts of other installations. */
export const CENSUS_FILE = "census.txt";
export const CENSUS_IMPORTED_FILE = "census-imported.txt";

const VERSION = 1;

/** Keeps a census as one file: the head in JSON, then "server count", one a line. */
export function censusFile(folder: string, name: string): CensusStore {
  const path = join(folder, name);
  return {
    read: () => parseCensus(textOf(path) ?? ""),
    save: (census) => writeWhole(path, censusText(census)),
  };
}

export function censusText({ servers, ...head }: Census): string {
  const lines = Array.from(servers, ([server, count]) => `${server} ${String(count)}`);
  return [JSON.stringify({ v: VERSION, ...head, lines: lines.length }), ...lines, ""].join("\n");
}

/** A server on a line: a host name or an IP address. */
const LINE = /^([0-9a-z.:-]{1,255}) ([1-9]\d{0,8})$/;

/** Undefined unless the text is a complete census. */
export function parseCensus(text: string): Census | undefined {
  const [first = "", ...lines] = text.split("\n");
  const last = lines.pop(); // every line ends with a line feed
  const head = headOf(first);
  if (head === undefined || last !== "" || head.lines !== lines.length) return undefined;
  const servers = new Map<string, number>();
  for (const line of lines) {
    const [, server, count] = LINE.exec(line) ?? [];
    if (server === undefined) return undefined;
    servers.set(server, Number(count));
  }
  const { day, source, asked, names, domains } = head;
  return { day, source, asked, names, domains, servers };
}

type Head = Omit<Census, "servers"> & { readonly v: number; readonly lines: number };

function headOf(line: string): Head | undefined {
  try {
    const head = JSON.parse(line) as Partial<Head>;
    const figures = [head.day, head.asked, head.names, head.domains, head.lines];
    const isOurs = head.v === VERSION && /^[0-9a-f]{64}$/.test(head.source ?? "");
    return isOurs && figures.every(isCount) ? (head as Head) : undefined;
  } catch {
    return undefined;
  }
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

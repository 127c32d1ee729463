import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isHostName, parseDomain } from "../core/name/domain.ts";

const require = createRequire(import.meta.url);

/** Lists that no npm package holds; `feeds/README.md` names their sources and licences. */
const FEEDS = fileURLToPath(new URL("../../../feeds/", import.meta.url));

export interface PackageFile {
  readonly name: string;
  readonly folder?: string;
  readonly file: string;
  readonly floor: number;
  readonly read: (text: string) => readonly string[];
}

const FILES = {
  fakefilter: {
    name: "fakefilter",
    file: "json/data_version2.json",
    floor: 3_000,
    read: fakefilterHosts,
  },
  ded: {
    name: "disposable-email-domains-js",
    file: "dist/dict/disposable_email_blocklist.json",
    floor: 6_500,
    read: jsonStrings,
  },
  mailchecker: {
    name: "mailchecker",
    file: "platform/node/index.js",
    floor: 45_000,
    read: mailcheckerNames,
  },
  tompec: { name: "disposable-domains", file: "index.json", floor: 110_000, read: jsonStrings },
  freemail: { name: "freemail", folder: FEEDS, file: "freemail.txt", floor: 3_500, read: lines },
  castle: { name: "castle", folder: FEEDS, file: "castle.csv", floor: 7_000, read: castleNames },
  roles: {
    name: "role-based-email-addresses",
    file: "src/index.js",
    floor: 800,
    read: roleNames,
  },
} as const satisfies Readonly<Record<string, PackageFile>>;

export type PackageId = keyof typeof FILES;

export const namesOfPackage = (id: PackageId): readonly string[] => readPackage(FILES[id]);

export const packageVersions = (): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.values<PackageFile>(FILES).map((row) => [row.name, versionOf(row)]));

function versionOf({ name, folder, file }: PackageFile): string {
  if (folder !== undefined) return String(statSync(join(folder, file)).size);
  const { version } = require(`${name}/package.json`) as { readonly version: string };
  return version;
}

export const bundledText = (id: PackageId): string => textOf(FILES[id]);

function textOf({ name, folder, file }: PackageFile): string {
  const root = folder ?? dirname(require.resolve(`${name}/package.json`));
  return readFileSync(join(root, file), "utf8");
}

/** Throws when a file is gone, cannot be read as what it was, or holds fewer names than it ever should. */
export function readPackage(row: PackageFile): readonly string[] {
  const { name, file, floor, read } = row;
  let names: readonly string[];
  try {
    names = read(textOf(row));
  } catch (cause) {
    throw new Error(`list package ${name}: ${file} cannot be read as it used to be`, { cause });
  }
  if (names.length >= floor) return names;
  const count = String(names.length);
  throw new Error(
    `list package ${name}: ${file} holds ${count} names, fewer than ${String(floor)}`,
  );
}

export function jsonStrings(text: string): readonly string[] {
  const value: unknown = JSON.parse(text);
  if (!Array.isArray(value) || !value.every(isText)) throw new Error("not an array of text");
  return value;
}

const isText = (value: unknown): value is string => typeof value === "string";

/** The keys of `domains[*].hosts`: the keys of `domains` alone are the registrable names only. */
export function fakefilterHosts(text: string): readonly string[] {
  const hosts = new Set<string>();
  for (const row of Object.values(member(JSON.parse(text), "domains"))) {
    for (const host of Object.keys(member(row, "hosts"))) hosts.add(host);
  }
  return [...hosts];
}

function member(value: unknown, key: string): object {
  const inner: unknown = isObject(value) ? Reflect.get(value, key) : undefined;
  if (!isObject(inner)) throw new Error(`no object under "${key}"`);
  return inner;
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

const MAILCHECKER_START = "new Set([";

/** The package keeps its list as an array literal in the source; the literal is JSON. */
export function mailcheckerNames(text: string): readonly string[] {
  const start = text.indexOf(MAILCHECKER_START);
  const end = text.indexOf("])", start);
  if (start < 0 || end < 0) throw new Error("no array literal in a set");
  return jsonStrings(text.slice(start + MAILCHECKER_START.length - 1, end + 1));
}

export function lines(text: string): readonly string[] {
  return text.split("\n").flatMap((line) => line.trim() || []);
}

/** The cells of each row of castle's file: name, first day, last day. Its first two lines are a remark and the header. */
export const castleRows = (text: string): readonly (readonly string[])[] =>
  lines(text)
    .filter((line) => !line.startsWith("#") && !line.startsWith("name,"))
    .map((line) => line.split(","));

function castleNames(text: string): readonly string[] {
  return castleRows(text).map(([name = ""]) => name);
}

export function roleNames(text: string): readonly string[] {
  return [...text.matchAll(/^ {2}'([^'\n]+)',?$/gm)].flatMap((match) => match[1] ?? []);
}

const PLAIN = /^[a-z0-9.-]+$/;

/** The name on a line of a list as it is looked up, in A-labels; undefined if it is not a domain name. */
export function domainOfLine(line: string): string | undefined {
  // Nearly all lines are plain, and need no look at the public suffix list.
  if (PLAIN.test(line)) return isHostName(line) ? line : undefined;
  const parsed = parseDomain(line);
  return parsed.ok ? parsed.value.name : undefined;
}

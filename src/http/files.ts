import sirv from "sirv";
import { readdirSync } from "node:fs";
import type { Page } from "./routes.ts";

interface FileTerms {
  readonly root: string;
  readonly at: string;
  readonly except: ReadonlySet<string>;
  readonly headersOf: (name: string) => Readonly<Record<string, string>>;
}

/** A page for each file of a folder; a "*.gz" beside a file is what clients get that take gzip. */
export function filePages({ root, at, except, headersOf }: FileTerms): readonly Page[] {
  const names = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/^\.|\.gz$/.test(entry.name))
    .map((entry) => `${entry.parentPath}/${entry.name}`.slice(root.length).replace(/^\/+/, ""))
    .filter((name) => !except.has(name));
  const serve = sirv(root, { etag: true, gzip: true });
  return names.map((name) => ({
    method: "GET",
    path: at + name,
    handle: ({ source, response }) => {
      for (const [header, value] of Object.entries(headersOf(name))) {
        response.setHeader(header, value);
      }
      source.url = `/${name}`;
      serve(source, response);
      return undefined;
    },
  }));
}

/** Of the header; a client holds one version, or a few. */
const HELD_MAX_CHARACTERS = 1_000;

/** RFC 9110 section 13.1.2, If-None-Match: weak comparison, because a proxy may have marked the tag as weak. */
export function isHeld(held: string | undefined, etag: string): boolean {
  if (held === undefined) return false;
  const strong = (tag: string): string => tag.trim().replace(/^W\//, "");
  const tags = held.slice(0, HELD_MAX_CHARACTERS).split(",").map(strong);
  return tags.includes("*") || tags.includes(strong(etag));
}

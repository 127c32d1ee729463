import { readdirSync } from "node:fs";
import sirv from "sirv";
import type { Page } from "./routes.ts";

export interface FileTerms {
  /** Absolute path of the folder. */
  readonly root: string;
  /** Where its files are found: "/", or a path that ends with "/". */
  readonly at: string;
  /** Files that are not served. */
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

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { TestContext } from "node:test";
import { FETCHED_SOURCES } from "../../src/lists/feed-sources.ts";
import { listening } from "../http/peer.ts";

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A file of names in a source's format, with an ETag. */
export interface ServedFile {
  readonly names: readonly string[];
  readonly etag?: string;
}

const ALWAYS = ["guerrillamail.com", "mailinator.com", "sharklasers.com", "yopmail.com"];

/** `count` names, including the four that every list must have. */
export const namesOf = (count: number, stem = "bad"): readonly string[] => [
  ...ALWAYS,
  ...Array.from({ length: count - ALWAYS.length }, (_, n) => `${stem}${String(n)}.example`),
];

const floorOf = (id: string): number => FETCHED_SOURCES.find((each) => each.id === id)?.floor ?? 0;

/** A valid file of a source: 10 % above its floor. */
export const goodNames = (id: string): readonly string[] => namesOf(Math.ceil(floorOf(id) * 1.1));

/** The names in a source's format. */
export function fileOf(id: string, names: readonly string[]): string {
  if (id === "tompec") return JSON.stringify(names);
  if (id !== "fakefilter") return `${names.join("\n")}\n`;
  const rows = names.map((name) => [name, { hosts: { [name]: {} } }]);
  return JSON.stringify({ domains: Object.fromEntries(rows) as unknown });
}

/** A mirror on loopback: a test changes what each source serves; at first every source is valid. */
export async function listServer(t: TestContext) {
  const handlers = new Map<string, Handler>();
  const asked: { readonly id: string; readonly condition: string | undefined }[] = [];
  const server = createServer((request, response) => {
    const id = (request.url ?? "").split("/").at(-1) ?? "";
    asked.push({ id, condition: request.headers["if-none-match"] });
    const handler = handlers.get(id);
    if (handler === undefined) response.writeHead(404).end("not found");
    else handler(request, response);
  });
  const { url, port, close } = await listening(server);
  t.after(close);
  const serve = (id: string, handler: Handler): void => void handlers.set(id, handler);
  const serveNames = (id: string, names: readonly string[], etag = '"1"'): void =>
    serve(id, (request, response) => {
      if (request.headers["if-none-match"] === etag) response.writeHead(304).end();
      else response.writeHead(200, { etag }).end(fileOf(id, names));
    });
  for (const { id } of FETCHED_SOURCES) serveNames(id, goodNames(id));
  return { url, port, asked, serve, serveNames };
}

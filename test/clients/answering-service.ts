import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { TestContext } from "node:test";
import { createGatepost, type GatepostOptions } from "../../clients/typescript/src/index.ts";
import { listening } from "../http/peer.ts";

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export type Reply = (response: ServerResponse, asked: Asked, count: number) => void;

/** A service that answers as `reply` says; what it was asked. */
export async function serviceOf(t: TestContext, reply: Reply) {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      const { method = "", url: path = "", headers } = request;
      const one = { method, path, headers, body: Buffer.concat(pieces).toString() };
      asked.push(one);
      reply(response, one, asked.filter((each) => each.path === path).length);
    });
  });
  const { url, close } = await listening(server);
  t.after(close);
  return { url, asked };
}

export function json(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

export const gate = (url: string, more: Partial<GatepostOptions> = {}) =>
  createGatepost({ url, deadlineMs: 5_000, ...more });

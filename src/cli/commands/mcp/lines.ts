import {
  deserializeMessage,
  type JSONRPCMessage,
  type Transport,
} from "@modelcontextprotocol/server";
import type { Readable, Writable } from "node:stream";

/** Octets of a line; the longest call, with 100 entries of 1,000 characters, is a tenth of it. */
const LINE_MAX = 1_000_000;
const NEWLINE = 10;

const [PARSE_ERROR, INVALID_REQUEST] = [-32_700, -32_600];

type Id = string | number;

/**
 * Reads and writes a message a line. What is no message gets one error, where the library's own transport is silent or ends;
 * requests that are open when the input ends are still answered.
 */
export class LineTransport implements Transport {
  onclose?: () => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Resolves when the input has ended and everything is answered, or nobody reads any more. */
  readonly ended: Promise<void>;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #open = new Set<Id>();
  #end: () => void = () => undefined;
  #hasEnded = false;
  #parts: Buffer[] = [];
  #octets = 0;

  constructor(input: Readable, output: Writable) {
    this.#input = input;
    this.#output = output;
    this.ended = new Promise((resolve) => (this.#end = resolve));
  }

  start(): Promise<void> {
    const inputEnded = (): void => {
      this.#hasEnded = true;
      this.#endIfIdle();
    };
    this.#input.on("data", (chunk: Buffer) => this.#read(chunk));
    this.#input.once("end", inputEnded).once("error", inputEnded).once("close", inputEnded);
    this.#output.on("error", () => this.#end());
    this.#output.on("drain", () => this.#input.resume());
    return Promise.resolve();
  }

  send(message: JSONRPCMessage): Promise<void> {
    this.#write(message);
    if (!("method" in message) && message.id !== undefined) this.#closed(message.id);
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.#end();
    this.#input.pause();
    this.onclose?.();
    return Promise.resolve();
  }

  #read(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      this.#keep(chunk.subarray(from, at));
      this.#line();
      from = at + 1;
    }
    this.#keep(chunk.subarray(from));
  }

  /** Keeps only the length of a line that is too long. */
  #keep(part: Buffer): void {
    this.#octets += part.length;
    if (this.#octets > LINE_MAX) this.#parts = [];
    else this.#parts.push(part);
  }

  #line(): void {
    const isTooLong = this.#octets > LINE_MAX;
    const text = Buffer.concat(this.#parts).toString("utf8").trim();
    this.#parts = [];
    this.#octets = 0;
    if (isTooLong) {
      this.#refuse(INVALID_REQUEST, `A message has at most ${String(LINE_MAX)} octets.`);
    } else if (text !== "") this.#message(text);
  }

  #message(text: string): void {
    let message: JSONRPCMessage;
    try {
      message = deserializeMessage(text);
    } catch {
      const value = jsonOf(text);
      if (value === undefined) this.#refuse(PARSE_ERROR, "The line is not JSON.");
      else this.#refuse(INVALID_REQUEST, "This is no JSON-RPC message.", idOf(value));
      return;
    }
    if ("method" in message && "id" in message) this.#open.add(message.id);
    const { method, params } = message as { method?: string; params?: { requestId?: Id } };
    // A cancelled request is never answered.
    if (method === "notifications/cancelled") this.#closed(params?.requestId ?? "");
    this.onmessage?.(message);
  }

  #closed(id: Id): void {
    this.#open.delete(id);
    this.#endIfIdle();
  }

  #refuse(code: number, message: string, id: Id | null = null): void {
    this.#write({ jsonrpc: "2.0", id, error: { code, message } });
  }

  /** Reads no more until the agent has read what was written. */
  #write(message: unknown): void {
    if (!this.#output.write(`${JSON.stringify(message)}\n`)) this.#input.pause();
  }

  #endIfIdle(): void {
    if (this.#hasEnded && this.#open.size === 0) this.#end();
  }
}

/** Undefined for what is not JSON. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function idOf(value: unknown): Id | null {
  const id = (value as { readonly id?: unknown } | null)?.id;
  return typeof id === "string" || typeof id === "number" ? id : null;
}

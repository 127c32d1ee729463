import {
  deserializeMessage,
  type JSONRPCMessage,
  type Transport,
} from "@modelcontextprotocol/server";
import type { Readable, Writable } from "node:stream";

/** Octets of a line; the longest call, with 100 entries of 1,000 characters, is a tenth of it. */
const LINE_MAX = 1_000_000;
const BATCH_MAX = 100;
const NEWLINE = 10;

const [PARSE_ERROR, INVALID_REQUEST] = [-32_700, -32_600];

/** Requests that came in one array, as in the version 2025-03-26, and are answered in one. */
interface MessageBatch {
  wanted: number;
  readonly answers: unknown[];
}

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
  readonly #open = new Map<Id, MessageBatch | undefined>();
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
    if (!("id" in message) || "method" in message || message.id === undefined) {
      this.#write(message);
      return Promise.resolve();
    }
    const batch = this.#open.get(message.id);
    this.#open.delete(message.id);
    this.#answer(message, batch);
    this.#endIfIdle();
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

  /** Of a line that is too long only its length. */
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
      this.#write(failure(INVALID_REQUEST, `A message has at most ${String(LINE_MAX)} octets.`));
    } else if (text !== "") this.#message(text);
  }

  #message(text: string): void {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      this.#write(failure(PARSE_ERROR, "The line is not JSON."));
      return;
    }
    if (!Array.isArray(value)) {
      this.#deliver(value);
    } else if (value.length === 0 || value.length > BATCH_MAX) {
      const rule = `A batch has 1 to ${String(BATCH_MAX)} messages.`;
      this.#write(failure(INVALID_REQUEST, rule));
    } else {
      const batch: MessageBatch = { wanted: value.length, answers: [] };
      for (const each of value) this.#deliver(each, batch);
    }
  }

  #deliver(value: unknown, batch?: MessageBatch): void {
    let message: JSONRPCMessage;
    try {
      message = deserializeMessage(JSON.stringify(value));
    } catch {
      const failed = failure(INVALID_REQUEST, "This is no JSON-RPC message.", idOf(value));
      this.#answer(failed, batch);
      return;
    }
    if ("method" in message && "id" in message) {
      this.#open.set(message.id, batch);
    } else {
      this.#unanswered(batch);
      const { method, params } = message as { method?: string; params?: { requestId?: Id } };
      if (method === "notifications/cancelled") this.#cancelled(params?.requestId);
    }
    this.onmessage?.(message);
  }

  /** A cancelled request is never answered. */
  #cancelled(id: Id = ""): void {
    const batch = this.#open.get(id);
    if (this.#open.delete(id)) this.#unanswered(batch);
  }

  #unanswered(batch: MessageBatch | undefined): void {
    if (batch === undefined) return;
    batch.wanted -= 1;
    this.#sendIfWhole(batch);
  }

  #answer(answer: unknown, batch: MessageBatch | undefined): void {
    if (batch === undefined) {
      this.#write(answer);
      return;
    }
    batch.answers.push(answer);
    this.#sendIfWhole(batch);
  }

  #sendIfWhole({ wanted, answers }: MessageBatch): void {
    if (answers.length >= wanted && answers.length > 0) this.#write(answers);
  }

  /** Reads no more until the agent has read what was written. */
  #write(message: unknown): void {
    if (!this.#output.write(`${JSON.stringify(message)}\n`)) this.#input.pause();
  }

  #endIfIdle(): void {
    if (this.#hasEnded && this.#open.size === 0) this.#end();
  }
}

function idOf(value: unknown): Id | null {
  const id = (value as { readonly id?: unknown } | null)?.id;
  return typeof id === "string" || typeof id === "number" ? id : null;
}

const failure = (code: number, message: string, id: Id | null = null): unknown => ({
  jsonrpc: "2.0",
  id,
  error: { code, message },
});

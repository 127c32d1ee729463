import { Agent, request } from "node:http";
import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

/** Octets a second that all attackers together can send: a line of 1 Gbit/s. */
const LINE_OCTETS_PER_SECOND = 125_000_000;

/** How long an attacker waits that was refused, at least and at most. */
const REFUSED_MIN_MS = 100;
const REFUSED_MAX_MS = 5_000;

const ANSWER_KEPT_OCTETS = 4_096;

export interface Asked {
  readonly method?: string;
  readonly path: string;
  readonly type?: string;
  readonly octets?: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answered {
  /** 0: the connection broke. */
  readonly status: number;
  readonly retryAfterMs: number;
  /** Its beginning. */
  readonly body: string;
}

/** What all attackers share. */
export interface AttackerTerms {
  readonly port: number;
  /** Address of attacker n. */
  readonly addressOf: (index: number) => string;
  readonly keys: Readonly<Record<"free" | "starter", readonly string[]>>;
  /** Its own for each attack: what one has not sent by its end takes nothing from the next. */
  readonly line: Line;
}

export interface Line {
  /** When it is free for the next octets. */
  freeAtMs: number;
}

/** One owner: its address, its keys and what it has open. */
export class Attacker {
  readonly index: number;
  readonly #terms: AttackerTerms;
  readonly #agent: Agent;
  readonly #open = new Set<Socket>();
  #isOver = false;
  /** Answers by status. */
  readonly statuses = new Map<number, number>();

  constructor(index: number, terms: AttackerTerms) {
    this.index = index;
    this.#terms = terms;
    const localAddress = terms.addressOf(index);
    this.#agent = new Agent({ keepAlive: true, maxSockets: 250, localAddress });
  }

  /** Answers and connections that it has got. */
  get reached(): number {
    return this.#open.size + [...this.statuses.values()].reduce((sum, count) => sum + count, 0);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  key(plan: "free" | "starter"): Readonly<Record<string, string>> {
    return { "x-api-key": this.#terms.keys[plan][this.index] ?? "" };
  }

  /** `count` loops of `work`, each until the attack is over. */
  async repeat(count: number, work: () => Promise<Answered | undefined>): Promise<void> {
    const loop = async (): Promise<void> => {
      while (!this.#isOver) {
        const answer = await work();
        if (answer === undefined || answer.status < 400) continue;
        if (answer.status === 429 || answer.status === 503 || answer.status === 0) {
          const waitMs = Math.max(REFUSED_MIN_MS, Math.min(REFUSED_MAX_MS, answer.retryAfterMs));
          await this.wait(waitMs);
        }
      }
    };
    const loops: Promise<void>[] = [];
    for (let at = 0; at < count; at += 1) {
      loops.push(loop());
      await Promise.resolve(); // the next attacker's first request goes before this one's second
    }
    await Promise.all(loops);
  }

  /** Ends early when the attack does. */
  async wait(ms: number): Promise<void> {
    const untilMs = performance.now() + ms;
    while (!this.#isOver && performance.now() < untilMs) await pause(Math.min(ms, 50));
  }

  async ask({ method = "POST", path, type, octets, headers = {} }: Asked): Promise<Answered> {
    await this.#lineFree(path.length + (octets?.length ?? 0));
    if (this.#isOver) return BROKEN;
    const answer = await new Promise<Answered>((resolve) => {
      const sent = request({
        host: "127.0.0.1",
        port: this.#terms.port,
        agent: this.#agent,
        method,
        path,
        headers: {
          ...headers,
          ...(type === undefined ? {} : { "content-type": type }),
          ...(octets === undefined ? {} : { "content-length": String(octets.length) }),
        },
      });
      sent.on("error", () => resolve(BROKEN));
      // An answer may end before its request; nothing else hears when the connection then breaks.
      sent.once("socket", (socket) => socket.off("error", ignore).on("error", ignore));
      sent.on("response", (response) => {
        let body = "";
        response.setEncoding("utf8");
        response.on("data", (text: string) => {
          if (body.length < ANSWER_KEPT_OCTETS) body += text;
        });
        response.on("error", () => resolve(BROKEN));
        response.on("end", () => {
          const status = response.statusCode ?? 0;
          const retryAfterMs = Number(response.headers["retry-after"] ?? 0) * 1_000;
          resolve({ status, retryAfterMs, body });
        });
      });
      sent.end(octets);
    });
    this.statuses.set(answer.status, (this.statuses.get(answer.status) ?? 0) + 1);
    return answer;
  }

  /** A connection of its own on which `lines` were sent; undefined when it breaks before. */
  async connection(text: string): Promise<Socket | undefined> {
    await this.#lineFree(text.length);
    if (this.#isOver) return undefined;
    const localAddress = this.#terms.addressOf(this.index);
    const socket = connect({ port: this.#terms.port, host: "127.0.0.1", localAddress });
    this.#open.add(socket);
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once("connect", () => resolve(true));
      socket.once("close", () => resolve(false));
      socket.on("error", () => undefined);
    });
    socket.once("close", () => this.#open.delete(socket));
    if (!isOpen) return undefined;
    socket.write(text);
    return socket;
  }

  stop(): void {
    this.#isOver = true;
    this.#agent.destroy();
    for (const socket of this.#open) socket.destroy();
  }

  async #lineFree(octets: number): Promise<void> {
    const { line } = this.#terms;
    const nowMs = performance.now();
    line.freeAtMs = Math.max(nowMs, line.freeAtMs) + (octets * 1_000) / LINE_OCTETS_PER_SECOND;
    const startMs = line.freeAtMs - (octets * 1_000) / LINE_OCTETS_PER_SECOND;
    if (startMs > nowMs) await this.wait(startMs - nowMs);
  }
}

const ignore = (): void => undefined;

const BROKEN: Answered = { status: 0, retryAfterMs: 1_000, body: "" };

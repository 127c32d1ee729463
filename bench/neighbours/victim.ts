import { Agent, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";

const CHECK_EVERY_MS = 20;
const BULK_ENTRIES = 2_000;
const BULK_LOOK_EVERY_MS = 20;
const BULK_WITHIN_MS = 120_000;

/** What a caller saw in one stretch of time. */
export interface Seen {
  readonly checksMs: number[];
  readonly bulksMs: number[];
  /** What was not answered with 200, by status; 0 is a broken connection. */
  readonly failed: number[];
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

export interface VictimMore {
  /** Asked for with each single check. */
  readonly feature?: string;
  /** Resolves when the victim was told that this list is done; its time counts. */
  readonly told?: (session: string) => Promise<void>;
}

/** A caller with a key, whose single checks and lists are timed. */
export class Victim {
  readonly #port: number;
  readonly #key: string;
  readonly #agent = new Agent({ keepAlive: true, localAddress: "127.0.0.1" });
  readonly #more: VictimMore;
  #names = 0;

  constructor(port: number, key: string, more: VictimMore = {}) {
    this.#port = port;
    this.#key = key;
    this.#more = more;
  }

  /** Checks at a steady rate for that time at least, and lists one after the other. */
  async live(forMs: number): Promise<Seen> {
    const seen: Seen = { checksMs: [], bulksMs: [], failed: [] };
    const endMs = performance.now() + forMs;
    let isOver = false;
    const checking = this.#check(seen, () => isOver);
    while (performance.now() < endMs) {
      await this.#bulk(seen);
      await pause(BULK_LOOK_EVERY_MS);
    }
    isOver = true;
    await checking;
    return seen;
  }

  close(): void {
    this.#agent.destroy();
  }

  async #check(seen: Seen, isOver: () => boolean): Promise<void> {
    const open: Promise<void>[] = [];
    const startMs = performance.now();
    for (let at = 0; !isOver(); at += 1) {
      const waitMs = startMs + at * CHECK_EVERY_MS - performance.now();
      if (waitMs > 0) await pause(waitMs);
      open.push(this.#checkOnce(seen, at % 2 === 0));
    }
    await Promise.all(open);
  }

  async #checkOnce({ checksMs, failed }: Seen, isPost: boolean): Promise<void> {
    const startMs = performance.now();
    const entry = `ada@${this.#name()}`;
    const { feature } = this.#more;
    const path = feature === undefined ? entry : `${entry}/${feature}`;
    const { status, body } =
      isPost && feature === undefined
        ? await this.#ask("POST", "/api/email", `email=${entry}`)
        : await this.#ask("GET", `/api/email/${path}`);
    if (status !== 200) failed.push(status);
    else if (feature !== undefined && body.includes("temporarily_unavailable")) failed.push(status);
    else checksMs.push(performance.now() - startMs);
  }

  async #bulk({ bulksMs, failed }: Seen): Promise<void> {
    const names = Array.from({ length: BULK_ENTRIES }, () => this.#name());
    const startMs = performance.now();
    const queued = await this.#ask("POST", "/api/domain", `bulk=1&domain=${names.join("%0A")}`);
    const session = /"session": ?"([0-9a-f]{32})"/.exec(queued.body)?.[1];
    if (queued.status !== 200 || session === undefined) {
      failed.push(queued.status);
      return;
    }
    while (performance.now() - startMs < BULK_WITHIN_MS) {
      await pause(BULK_LOOK_EVERY_MS);
      const { body } = await this.#ask("GET", `/api/view/${session}`);
      if (body !== "" && !body.startsWith("{")) break;
    }
    await this.#more.told?.(session);
    bulksMs.push(performance.now() - startMs);
  }

  /** Never asked before, and answered: silent names end in 7. A registry knows ten of them as one domain. */
  #name(): string {
    this.#names += 1;
    return `d${String(this.#names)}1.victim${String(Math.floor(this.#names / 10))}.co`;
  }

  #ask(method: string, path: string, form?: string): Promise<Answer> {
    return new Promise((resolve) => {
      const headers = {
        "x-api-key": this.#key,
        ...(form === undefined
          ? {}
          : {
              "content-type": "application/x-www-form-urlencoded",
              "content-length": String(Buffer.byteLength(form)),
            }),
      };
      const port = this.#port;
      const sent = request({ host: "127.0.0.1", port, agent: this.#agent, method, path, headers });
      sent.on("error", () => resolve({ status: 0, body: "" }));
      sent.on("response", (response) => {
        let body = "";
        response.setEncoding("utf8").on("data", (text: string) => (body += text));
        response.on("error", () => resolve({ status: 0, body: "" }));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
      });
      sent.end(form);
    });
  }
}

import type { TcpPipe } from "./transport/tcp.ts";
import type { UdpSender } from "./transport/udp.ts";

/** After this many tries in a row without an answer another server is asked first. */
const SILENT_TRIES_MAX = 8;

/** Questions in a row that were answered without EDNS alone, after which a server that once read EDNS is asked without. */
const PLAIN_MAX = 8;
/** Then EDNS is tried again. */
const PLAIN_MS = 3_600_000;

export interface Server {
  readonly udp: UdpSender;
  readonly tcp: TcpPipe;
}

/** The name servers, and which of them is asked first. */
export class ServerList {
  readonly count: number;
  /** The server asked first, as an index. */
  preferred = 0;
  readonly #servers: readonly Server[];
  /** By server: tries in a row without an answer. */
  readonly #silentTries: number[];
  /** By server: questions in a row that were answered without EDNS alone; until one with EDNS is, the first is enough. */
  readonly #plainAnswers: number[];
  /** By server: until when it is asked without EDNS. */
  readonly #plainUntilMs: number[];

  constructor(servers: readonly Server[]) {
    this.#servers = servers;
    this.count = servers.length;
    this.#silentTries = servers.map(() => 0);
    this.#plainAnswers = servers.map(() => PLAIN_MAX - 1);
    this.#plainUntilMs = servers.map(() => 0);
  }

  at(index: number): Server {
    const server = this.#servers[index];
    if (server === undefined) throw new Error("resolver: no servers");
    return server;
  }

  answered(index: number): void {
    this.#silentTries[index] = 0;
  }

  silent(index: number): void {
    const tries = (this.#silentTries[index] ?? 0) + 1;
    this.#silentTries[index] = tries;
    if (index !== this.preferred || tries < SILENT_TRIES_MAX) return;
    this.preferred = (index + 1) % this.count;
    this.#silentTries[this.preferred] = 0;
  }

  readEdns(index: number): void {
    this.#plainAnswers[index] = 0;
  }

  /** It answered without EDNS what it refused or dropped with it. */
  neededPlain(index: number, nowMs: number): void {
    const answers = (this.#plainAnswers[index] ?? 0) + 1;
    this.#plainAnswers[index] = answers;
    if (answers >= PLAIN_MAX) this.#plainUntilMs[index] = nowMs + PLAIN_MS;
  }

  isPlain(index: number, nowMs: number): boolean {
    return (this.#plainUntilMs[index] ?? 0) > nowMs;
  }

  close(): void {
    for (const { udp, tcp } of this.#servers) {
      udp.close();
      tcp.close();
    }
  }
}

import type { TcpPipe } from "./transport/tcp.ts";
import type { UdpSender } from "./transport/udp.ts";

/** After this many tries in a row without an answer another server is asked first. */
const SILENT_TRIES_MAX = 8;

/** Questions in a row that were answered without EDNS alone, after which a server that once read EDNS is asked without. */
const PLAIN_MAX = 8;
const PLAIN_MS = 3_600_000;

interface Server {
  readonly udp: UdpSender;
  readonly tcp: TcpPipe;
}

/** Questions in a row that TCP answered and UDP did not, after which TCP is asked first, for a while. */
const TCP_ANSWERS_MAX = 8;
const TCP_MS = 60_000;

interface KnownServer extends Server {
  tcpAnswers: number;
  /** Until then questions go by TCP at once; UDP is tried again after it. */
  tcpUntilMs: number;
  /** Until then TCP is left alone, because nobody listens there. */
  noTcpUntilMs: number;
  silentTries: number;
  plainAnswers: number;
  plainUntilMs: number;
}

export class ServerList {
  preferred = 0;
  readonly #servers: readonly KnownServer[];

  constructor(servers: readonly Server[]) {
    this.#servers = servers.map((server) => ({
      ...server,
      silentTries: 0,
      plainAnswers: PLAIN_MAX - 1,
      plainUntilMs: 0,
      tcpAnswers: 0,
      tcpUntilMs: 0,
      noTcpUntilMs: 0,
    }));
  }

  get count(): number {
    return this.#servers.length;
  }

  at(index: number): KnownServer {
    const server = this.#servers[index];
    if (server === undefined) throw new Error("resolver: no servers");
    return server;
  }

  answered(index: number): void {
    const server = this.at(index);
    server.silentTries = 0;
    server.tcpAnswers = 0;
    server.tcpUntilMs = 0;
  }

  answeredByTcp(index: number, nowMs: number): void {
    const server = this.at(index);
    server.silentTries = 0;
    server.tcpAnswers += 1;
    if (server.tcpAnswers >= TCP_ANSWERS_MAX) server.tcpUntilMs = nowMs + TCP_MS;
  }

  tcpFailed(index: number, nowMs: number): void {
    const server = this.at(index);
    server.noTcpUntilMs = nowMs + TCP_MS;
    server.tcpUntilMs = 0;
  }

  isByTcp(index: number, nowMs: number): boolean {
    return this.at(index).tcpUntilMs > nowMs;
  }

  isUdpDoubted(index: number): boolean {
    const { tcpAnswers, silentTries } = this.at(index);
    return tcpAnswers > 0 || silentTries >= SILENT_TRIES_MAX;
  }

  mayTcp(index: number, nowMs: number): boolean {
    return this.at(index).noTcpUntilMs <= nowMs;
  }

  tcpAlone(nowMs: number): number {
    return this.#servers.filter(({ tcpUntilMs }) => tcpUntilMs > nowMs).length;
  }

  silent(index: number): void {
    const server = this.at(index);
    server.silentTries += 1;
    const isOnlyOrOther = index !== this.preferred || this.count === 1;
    if (isOnlyOrOther || server.silentTries < SILENT_TRIES_MAX) return;
    this.preferred = (index + 1) % this.count;
    this.at(this.preferred).silentTries = 0;
  }

  readEdns(index: number): void {
    this.at(index).plainAnswers = 0;
  }

  /** It answered without EDNS what it refused or dropped with it. */
  neededPlain(index: number, nowMs: number): void {
    const server = this.at(index);
    server.plainAnswers += 1;
    if (server.plainAnswers >= PLAIN_MAX) server.plainUntilMs = nowMs + PLAIN_MS;
  }

  isPlain(index: number, nowMs: number): boolean {
    return this.at(index).plainUntilMs > nowMs;
  }

  close(): void {
    for (const { udp, tcp } of this.#servers) {
      udp.close();
      tcp.close();
    }
  }
}

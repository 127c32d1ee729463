import { fork } from "node:child_process";
import { createSocket, type RemoteInfo, type Socket as UdpSocket } from "node:dgram";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { fileURLToPath } from "node:url";
import type { Clock } from "../../src/base/clock.ts";
import { TYPE, uint16 } from "./dns-message.ts";
import {
  isUnknown,
  type Misbehaviour,
  rightAnswer,
  type ServedName,
  type ServedZone,
  type Soa,
} from "./dns-zone.ts";
import { realClock } from "../time/real-clock.ts";
import { endOf } from "../services/child.ts";
import { type Query, readQuery, truncated, udpReplies } from "./misbehaviour.ts";

export interface DnsServerOptions {
  /** Of negative answers; default 60 s and 60 s, `null` for none. */
  readonly soa?: Soa | null;
  readonly host?: "127.0.0.1" | "::1";
  /** Loses every n-th answer by UDP. */
  readonly loseEvery?: number;
}

export interface DnsServer {
  readonly host: string;
  readonly port: number;
  /** "MX mail.example" for each question by UDP, "tcp MX mail.example" by TCP, in the order asked. */
  readonly asked: readonly string[];
  /** Holds UDP answers about these names back until the returned function releases them. */
  hold(isHeld: (name: string) => boolean): () => void;
  /** Loses all questions, by UDP and TCP, until the returned function is called. */
  mute(): () => void;
  close(): Promise<void>;
}

const DEFAULT_SOA: Soa = { ttlSeconds: 60, minimumSeconds: 60 };
const TYPE_TEXT = new Map<number, string>(Object.entries(TYPE).map(([name, type]) => [type, name]));
const DRIP_EVERY_MS = 50;
/** A port that is free for TCP may be in use for UDP. */
const PORTS_TRIED_MAX = 20;

/**
 * A real DNS server on loopback, UDP and TCP on one port; names that are not in the zone do not exist. What it
 * delays is delayed by `clock`.
 */
export async function startDnsServer(
  zone: ServedZone,
  options: DnsServerOptions = {},
  clock: Pick<Clock, "after"> = realClock,
): Promise<DnsServer> {
  const { host = "127.0.0.1" } = options;
  for (let tried = 1; ; tried += 1) {
    try {
      return new LoopbackServer(await listenOn(host), { zone, options, clock });
    } catch (error) {
      if (
        tried === PORTS_TRIED_MAX ||
        !(error instanceof Error) ||
        !/EADDRINUSE/.test(error.message)
      )
        throw error;
    }
  }
}

async function listenOn(host: "127.0.0.1" | "::1"): Promise<Listening> {
  const tcp = createServer();
  tcp.listen(0, host);
  await once(tcp, "listening");
  const { port } = tcp.address() as AddressInfo;
  const udp = createSocket({ type: host === "::1" ? "udp6" : "udp4", recvBufferSize: 4 << 20 });
  udp.bind(port, host);
  try {
    await once(udp, "listening");
  } catch (error) {
    udp.close();
    tcp.close();
    throw error;
  }
  return { udp, tcp, host, port };
}

interface Listening {
  readonly udp: UdpSocket;
  readonly tcp: Server;
  readonly host: string;
  readonly port: number;
}

interface Hold {
  readonly isHeld: (name: string) => boolean;
  /** Runs when the answer is released. */
  readonly sends: (() => void)[];
}

interface Duty {
  readonly zone: ServedZone;
  readonly options: DnsServerOptions;
  readonly clock: Pick<Clock, "after">;
}

class LoopbackServer implements DnsServer {
  readonly host: string;
  readonly port: number;
  readonly asked: string[] = [];
  readonly #listening: Listening;
  readonly #names: ReadonlyMap<string, ServedName>;
  readonly #soa: Soa | undefined;
  readonly #loseEvery: number;
  #sent = 0;
  #isMute = false;
  readonly #holds = new Set<Hold>();
  readonly #misbehaved = new Map<string, number>();
  readonly #connections = new Set<Socket>();
  readonly #clock: Pick<Clock, "after">;
  readonly #cancels = new Set<() => void>();

  constructor(listening: Listening, { zone, options, clock }: Duty) {
    const { soa = DEFAULT_SOA, loseEvery = Infinity } = options;
    this.#clock = clock;
    this.#loseEvery = loseEvery;
    this.#listening = listening;
    this.host = listening.host;
    this.port = listening.port;
    this.#names = new Map<string, ServedName>(Object.entries(zone));
    this.#soa = soa ?? undefined;
    listening.udp.on("message", (octets, peer) => this.#byUdp(octets, peer));
    listening.tcp.on("connection", (connection) => this.#connected(connection));
  }

  hold(isHeld: (name: string) => boolean): () => void {
    const hold: Hold = { isHeld, sends: [] };
    this.#holds.add(hold);
    return () => {
      this.#holds.delete(hold);
      for (const send of hold.sends.splice(0)) send();
    };
  }

  mute(): () => void {
    this.#isMute = true;
    return () => void (this.#isMute = false);
  }

  async close(): Promise<void> {
    for (const cancel of this.#cancels) cancel();
    for (const connection of this.#connections) connection.destroy();
    const { udp, tcp } = this.#listening;
    udp.close();
    tcp.close();
    await Promise.all([once(udp, "close"), once(tcp, "close")]);
  }

  #note(query: Query, prefix: "" | "tcp "): ServedName {
    this.asked.push(`${prefix}${TYPE_TEXT.get(query.type) ?? query.type} ${query.name}`);
    return this.#names.get(query.name) ?? {};
  }

  /** How it treats this question, among the first `times` by UDP. */
  #misbehaviour(query: Query, entry: ServedName): Misbehaviour | undefined {
    if (isUnknown(entry, query.type)) return "servfail";
    const before = this.#misbehaved.get(query.name) ?? 0;
    if (entry.behave === undefined || before >= (entry.times ?? Infinity)) return undefined;
    this.#misbehaved.set(query.name, before + 1);
    return entry.behave;
  }

  #byUdp(octets: Buffer, peer: RemoteInfo): void {
    const query = readQuery(octets);
    const entry = this.#note(query, "");
    if (this.#isMute) return;
    const right = this.#right(query);
    const replies = udpReplies(query, right, this.#misbehaviour(query, entry));
    const send = (): void => this.#sendAll(replies, peer);
    this.#later(entry.delayMs ?? 0, () => {
      const hold = [...this.#holds].find(({ isHeld }) => isHeld(query.name));
      if (hold === undefined) send();
      else hold.sends.push(send);
    });
  }

  #sendAll(replies: readonly Buffer[], peer: RemoteInfo): void {
    for (const reply of replies) {
      this.#sent += 1;
      if (this.#sent % this.#loseEvery !== 0) {
        this.#listening.udp.send(reply, peer.port, peer.address);
      }
    }
  }

  #right(query: Query): Buffer {
    const right = rightAnswer(this.#names, { ...query, soa: this.#soa });
    right.writeUInt16BE(query.id, 0);
    return right;
  }

  #connected(connection: Socket): void {
    this.#connections.add(connection);
    connection.on("close", () => this.#connections.delete(connection));
    connection.on("error", () => connection.destroy());
    let received = Buffer.alloc(0);
    connection.on("data", (chunk) => {
      received = Buffer.concat([received, chunk]);
      while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
        const end = 2 + received.readUInt16BE(0);
        this.#byTcp(readQuery(received.subarray(2, end)), connection);
        received = received.subarray(end);
      }
    });
  }

  #byTcp(query: Query, connection: Socket): void {
    const entry = this.#note(query, "tcp ");
    if (this.#isMute) return;
    const { behave, delayMs = 0 } = entry;
    let right = this.#right(query);
    if (behave === "servfail" || behave === "refused" || isUnknown(entry, query.type)) {
      const way = this.#misbehaviour(query, entry);
      if (way !== undefined) right = udpReplies(query, right, way)[0] ?? right;
    }
    const frame = Buffer.concat([uint16(right.length), right]);
    if (behave === "truncatedTcpSilent" || behave === "silent" || behave === "garbage") return;
    if (delayMs > 0) {
      this.#later(delayMs, () => connection.write(frame));
      return;
    }
    if (behave === "truncatedTcpClose") connection.destroy();
    else if (behave === "truncatedTcpDrip") this.#drip(connection, frame, 0);
    else if (behave === "truncatedTwice") {
      const cut = truncated(query);
      connection.write(Buffer.concat([uint16(cut.length), cut]));
    } else connection.write(frame);
  }

  #drip(connection: Socket, frame: Buffer, at: number): void {
    if (at >= frame.length || connection.destroyed) return;
    connection.write(frame.subarray(at, at + 1));
    this.#later(DRIP_EVERY_MS, () => this.#drip(connection, frame, at + 1));
  }

  #later(delayMs: number, task: () => void): void {
    if (delayMs === 0) {
      task();
      return;
    }
    const cancel = this.#clock.after(delayMs, () => {
      this.#cancels.delete(cancel);
      task();
    });
    this.#cancels.add(cancel);
  }
}

export interface ForkedDnsServer {
  readonly host: string;
  readonly port: number;
  close(): Promise<void>;
}

/** The same server in a separate process, for tests that measure this process. */
export async function forkDnsServer(
  zone: ServedZone,
  options: DnsServerOptions = {},
): Promise<ForkedDnsServer> {
  const child = fork(fileURLToPath(new URL("./dns-server-process.js", import.meta.url)));
  child.send({ zone, options });
  const [started] = (await once(child, "message")) as [{ readonly port: number }];
  return {
    host: options.host ?? "127.0.0.1",
    port: started.port,
    async close() {
      child.kill();
      await endOf(child);
    },
  };
}

import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { systemClock } from "../../src/base/clock.ts";
import { isDeadQuery } from "./names.ts";

/** What the path to the name server is like. */
export interface Path {
  readonly upstreamPort: number;
  /** The median where it is spread. */
  readonly roundTripMs: number;
  /** Sigma of the lognormal distribution of round trips; 0: all take the same time. */
  readonly sigma: number;
  /** One datagram in this number is lost, each way; 0 for none. */
  readonly loseEvery: number;
  /** Whether the dead names get no answer. */
  readonly hasDead: boolean;
}

const RECEIVE_BUFFER_OCTETS = 4 * 1_024 * 1_024;
/** Client ports remembered; the client changes its ports all the time. */
const CLIENTS_MAX = 1_000;

/** Longer delays than a client listens are as good as this one. */
const DELAY_MAX_MS = 16_000;

/** Holds datagrams back, each for a time of its own, in buckets of 1 ms. */
class DelayLine {
  readonly #buckets: (() => void)[][] = Array.from({ length: DELAY_MAX_MS + 1 }, () => []);
  readonly #delayMs: () => number;
  readonly #loseEvery: number;
  #passed = 0;
  #doneMs = Math.floor(systemClock.monotonicMs());

  constructor(loseEvery: number, delayMs: () => number) {
    this.#delayMs = delayMs;
    this.#loseEvery = loseEvery;
    setInterval(() => this.#run(), 1);
  }

  add(send: () => void): void {
    this.#passed += 1;
    if (this.#loseEvery > 0 && this.#passed % this.#loseEvery === 0) return;
    const delayMs = Math.min(DELAY_MAX_MS - 1, Math.max(1, this.#delayMs()));
    const dueMs = Math.floor(systemClock.monotonicMs() + delayMs);
    this.#buckets[Math.max(dueMs, this.#doneMs + 1) % this.#buckets.length]?.push(send);
  }

  #run(): void {
    const nowMs = Math.floor(systemClock.monotonicMs());
    while (this.#doneMs < nowMs) {
      this.#doneMs += 1;
      const index = this.#doneMs % this.#buckets.length;
      const due = this.#buckets[index] ?? [];
      if (due.length === 0) continue;
      this.#buckets[index] = [];
      for (const send of due) send();
    }
  }
}

/** A draw from the standard normal distribution (Box and Muller). */
const normal = (): number =>
  Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());

/** A socket to the server for each port of the client, so that ids need no translation. */
class UdpProxy {
  readonly #path: Path;
  readonly #front: Socket;
  readonly #there: DelayLine;
  readonly #back: DelayLine;
  readonly #upstreams = new Map<number, Promise<Socket>>();

  constructor(path: Path, front: Socket) {
    this.#path = path;
    this.#front = front;
    const { roundTripMs, sigma, loseEvery } = path;
    this.#there = new DelayLine(loseEvery, () => 1);
    this.#back = new DelayLine(loseEvery, () => roundTripMs * Math.exp(sigma * normal()) - 1);
    front.on("message", (query, peer) => this.#asked(query, peer));
  }

  #asked(query: Buffer, peer: RemoteInfo): void {
    if (this.#path.hasDead && isDeadQuery(query)) return;
    const upstream = this.#upstreams.get(peer.port) ?? this.#open(peer);
    this.#there.add(() => void upstream.then((socket) => socket.send(query)));
  }

  #open(peer: RemoteInfo): Promise<Socket> {
    for (const [port, oldest] of this.#upstreams) {
      if (this.#upstreams.size < CLIENTS_MAX) break;
      this.#upstreams.delete(port);
      void oldest.then((socket) => socket.close());
    }
    const socket = createSocket({ type: "udp4", recvBufferSize: RECEIVE_BUFFER_OCTETS });
    socket.on("message", (answer) =>
      this.#back.add(() => this.#front.send(answer, peer.port, peer.address)),
    );
    socket.connect(this.#path.upstreamPort, "127.0.0.1");
    const opened = once(socket, "connect").then(() => socket);
    this.#upstreams.set(peer.port, opened);
    return opened;
  }
}

// Serves until the parent ends it or exits.
process.on("disconnect", () => process.exit());
const [path] = (await once(process, "message")) as [Path];
const tcp = createServer((client) => {
  const upstream = connect(path.upstreamPort, "127.0.0.1");
  for (const [from, to] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    from.on("data", (chunk) => systemClock.after(path.roundTripMs / 2, () => to.write(chunk)));
    from.on("close", () => to.destroy());
    from.on("error", () => from.destroy());
  }
});
tcp.listen(0, "127.0.0.1");
await once(tcp, "listening");
const address = tcp.address();
const port = typeof address === "object" && address !== null ? address.port : 0;
const front = createSocket({ type: "udp4", recvBufferSize: RECEIVE_BUFFER_OCTETS });
front.bind(port, "127.0.0.1");
await once(front, "listening");
new UdpProxy(path, front);
process.send?.({ port });

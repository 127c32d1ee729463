// A name server for benches and long tests, in a separate process: every name has one MX of 300 providers, which
// have one address each; a name under hosts.co has 60 of its own. It answers after a delay, loses some datagrams
// and never answers for dead names.
import { createSocket, type RemoteInfo } from "node:dgram";
import { performance } from "node:perf_hooks";

const [, , delayText = "20", lossText = "0", deadText = "0", sigmaText = "0"] = process.argv;
const delayMs = Number(delayText);
/** Of each way. */
const lossShare = Number(lossText);
/** One name in this number is dead; 0: none. */
const deadEvery = Number(deadText);
/** Of the lognormal distribution of delays; 0: all are the same. */
const sigma = Number(sigmaText);

const MX = 15;
const A = 1;
const PROVIDERS = 300;
const TTL_SECONDS = 3_600;

interface Due {
  readonly reply: Buffer;
  readonly peer: RemoteInfo;
}

const socket = createSocket({
  type: "udp4",
  recvBufferSize: 8 << 20,
  sendBufferSize: 8 << 20,
  lookup: (address, _options, found) => found(null, address, 4), // an address, never a name
});
/** Longer delays than any client waits are as good as this one. */
const DELAY_MAX_MS = 16_000;
/** By the millisecond in which they are due, round and round. */
const due: Due[][] = Array.from({ length: DELAY_MAX_MS + 1 }, () => []);
let doneMs = Math.floor(performance.now());

/** A draw from the standard normal distribution (Box and Muller). */
const normal = (): number =>
  Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());

function hold(item: Due): void {
  const delay = sigma === 0 ? delayMs : delayMs * Math.exp(sigma * normal());
  const atMs = Math.floor(performance.now() + Math.min(DELAY_MAX_MS - 1, delay));
  due[Math.max(atMs, doneMs + 1) % due.length]?.push(item);
}

function questionEnd(query: Buffer): number {
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) at += length + 1;
  return at + 5;
}

/** The number in the first label: "d123" is 123. */
const numberOf = (query: Buffer): number =>
  Number(query.toString("latin1", 14, 13 + (query[12] ?? 0)));

const label = (text: string): Buffer => Buffer.from([text.length, ...Buffer.from(text, "latin1")]);

function answer(type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(TTL_SECONDS, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

function exchange(provider: number): Buffer {
  const host = [label(`m${String(provider)}`), label("mail"), label("co"), Buffer.alloc(1)];
  return answer(MX, Buffer.concat([Buffer.from([0, 10]), ...host]));
}

/** Made once, because the benches' clients share the machine's cores with this program. */
const EXCHANGES = Array.from({ length: PROVIDERS }, (_, provider) => exchange(provider));
const ADDRESS = answer(A, Buffer.from([203, 0, 113, 5]));
const NOTHING = Buffer.alloc(0);

const MANY = 60;
/** Their names end with the one that was asked for, at octet 12 (RFC 1035 section 4.1.4). */
const OWN_EXCHANGES = Buffer.concat(
  Array.from({ length: MANY }, (_, at) =>
    answer(
      MX,
      Buffer.concat([Buffer.from([0, at]), label(`h${String(at)}`), Buffer.from([0xc0, 12])]),
    ),
  ),
);
const MANY_ZONE = label("hosts");

function recordFor(type: number, number: number): Buffer {
  if (type === A) return ADDRESS;
  const provider = Number.isNaN(number) ? 0 : number % PROVIDERS;
  return (type === MX ? EXCHANGES[provider] : undefined) ?? NOTHING;
}

function reply(query: Buffer): Buffer | undefined {
  const end = questionEnd(query);
  const type = query.readUInt16BE(end - 4);
  const number = numberOf(query);
  if (deadEvery > 0 && type === MX && number % deadEvery === 7) return undefined;
  const hasMany = type === MX && query.includes(MANY_ZONE);
  const record = hasMany ? OWN_EXCHANGES : recordFor(type, number);
  const made = Buffer.allocUnsafe(end + record.length);
  query.copy(made, 0, 0, end);
  record.copy(made, end);
  made.writeUInt16BE(0x8580, 2);
  made.writeUInt16BE(hasMany ? MANY : Math.min(1, record.length), 6);
  made.writeUInt16BE(0, 10);
  return made;
}

function flush(): void {
  const nowMs = Math.floor(performance.now());
  while (doneMs < nowMs) {
    doneMs += 1;
    const items = due[doneMs % due.length] ?? [];
    if (items.length > 0) due[doneMs % due.length] = [];
    for (const { reply: made, peer } of items) socket.send(made, peer.port, peer.address);
  }
  setTimeout(flush, 1);
}

socket.on("message", (query, peer) => {
  if (Math.random() < 2 * lossShare) return;
  const made = reply(query);
  if (made !== undefined) hold({ reply: made, peer });
});
socket.bind(0, "127.0.0.1", () => {
  process.stdout.write(`${String(socket.address().port)}\n`);
  flush();
});

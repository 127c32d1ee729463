import type { Socket } from "node:net";
import type { Attacker } from "./attacker.ts";

/** What one attacker does until it is over; `attackers` is how many there are. */
export type Run = (attacker: Attacker, attackers: number) => Promise<void>;

const DRIP_EVERY_MS = 500;
const DRIP = Buffer.alloc(3_000, "a");

/** Sends on just fast enough. */
function drip(socket: Socket | undefined): void {
  if (socket === undefined) return;
  socket.resume();
  const timer = setInterval(() => void socket.write(DRIP), DRIP_EVERY_MS);
  socket.once("close", () => clearInterval(timer));
}

const headText = (lines: readonly string[]): string =>
  `${["POST /api/email?bulk=1 HTTP/1.1", "host: 127.0.0.1", ...lines].join("\r\n")}\r\n\r\n`;

export async function keepOpen(attacker: Attacker, { count, text, use }: KeptOpen): Promise<void> {
  const loop = async (): Promise<void> => {
    while (!attacker.isOver) {
      const socket = await attacker.connection(text);
      use(socket);
      await new Promise<void>((resolve) => {
        if (socket === undefined || socket.destroyed) resolve();
        else socket.once("close", () => resolve());
      });
      await attacker.wait(1_000);
    }
  };
  const begun: Promise<void>[] = [];
  for (let at = 0; at < count && !attacker.isOver; at += 1) {
    begun.push(loop());
    if (at % 100 === 99) await attacker.wait(20);
  }
  await Promise.all(begun);
}

interface KeptOpen {
  readonly count: number;
  readonly text: string;
  readonly use: (socket: Socket | undefined) => void;
}

export const stalledBodies: Run = (attacker) => {
  const { "x-api-key": key = "" } = attacker.key("starter");
  const text = headText([
    `x-api-key: ${key}`,
    "content-type: application/x-www-form-urlencoded",
    "content-length: 6000000",
  ]);
  return keepOpen(attacker, { count: 45, text: `${text}email=${"a".repeat(300_000)}`, use: drip });
};

export const stalledUploads: Run = (attacker) => {
  const text = headText([
    "content-type: multipart/form-data; boundary=x",
    "content-length: 20000000",
  ]).replace("/api/email?bulk=1", "/api/bulk/upload");
  const start = `--x\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\n`;
  const use = drip;
  return keepOpen(attacker, { count: 4, text: `${text}${start}${"a\n".repeat(1_000_000)}`, use });
};

export const idleConnections: Run = (attacker, attackers) => {
  const text = "GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n";
  const count = Math.ceil(10_000 / attackers);
  return keepOpen(attacker, { count, text, use: (socket) => void socket?.resume() });
};

/** Sends `text` over and over, as fast as it is taken. */
const pour =
  (text: string): KeptOpen["use"] =>
  (socket) => {
    if (socket === undefined) return;
    const octets = Buffer.from(text.repeat(Math.ceil(65_536 / text.length)));
    const more = (): void => {
      while (socket.writable && socket.write(octets));
    };
    socket.resume().on("drain", more);
    more();
  };

/** Requests that do not wait for the answers before them. */
export const pipelining: Run = (attacker) => {
  const text = "GET /api/email/jo@good.co HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n";
  return keepOpen(attacker, { count: 2, text, use: pour(text) });
};

export const octetChunks: Run = (attacker) => {
  const type = "content-type: application/x-www-form-urlencoded";
  const text = headText([type, "transfer-encoding: chunked"]);
  return keepOpen(attacker, { count: 2, text, use: pour("1\r\na\r\n") });
};

/** Heads whose end never comes. */
export const slowHeads: Run = (attacker, attackers) => {
  const text = `GET /api/email/${"a".repeat(60_000)}`;
  const count = Math.ceil(8_000 / attackers);
  return keepOpen(attacker, { count, text, use: (socket) => void socket?.resume() });
};

/** Answers that cost nothing to ask for, and are never read. */
export const unreadPages: Run = (attacker, attackers) => {
  const text = "GET /openapi.json HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".repeat(16);
  const count = Math.ceil(10_000 / attackers);
  return keepOpen(attacker, { count, text, use: (socket) => void socket?.pause() });
};

/** Requests whose bodies never begin: none of these connections is idle. */
export const unfinishedRequests: Run = (attacker, attackers) => {
  const text = headText([
    "content-type: application/x-www-form-urlencoded",
    "content-length: 60000",
  ]);
  const count = Math.ceil(10_000 / attackers);
  return keepOpen(attacker, { count, text, use: (socket) => void socket?.resume() });
};

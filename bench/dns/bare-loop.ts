import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { MX } from "../../src/dns/message/records.ts";
import { encodeQuery } from "../../src/dns/message/wire.ts";
import { systemClock } from "../../src/base/clock.ts";

const SOCKETS = 8;
const UNDER_WAY = 200;

/**
 * The speed of bare `node:dgram`: it sends prepared packets and counts answers without reading them. No ids,
 * no timers, no cache, no promise. Queries a second.
 */
export async function bareLoop(names: readonly string[], port: number): Promise<number> {
  const packets = names.map((name) => packet(name));
  const sockets = await Promise.all(Array.from({ length: SOCKETS }, () => open(port)));
  const startedMs = systemClock.monotonicMs();
  let sent = 0;
  const send = (): void => {
    const next = packets[sent];
    if (next !== undefined) sockets[sent % SOCKETS]?.send(next);
    sent += 1;
  };
  await new Promise<void>((resolve) => {
    let left = packets.length;
    const received = (): void => {
      send();
      left -= 1;
      if (left === 0) resolve();
    };
    for (const socket of sockets) socket.on("message", received);
    for (let count = 0; count < UNDER_WAY; count += 1) send();
  });
  const seconds = (systemClock.monotonicMs() - startedMs) / 1_000;
  for (const socket of sockets) socket.close();
  return packets.length / seconds;
}

function packet(name: string): Uint8Array {
  const octets = encodeQuery({ name, kind: MX }, { edns: true });
  if (octets === undefined) throw new Error(`no name: ${name}`);
  return octets;
}

async function open(port: number): Promise<Socket> {
  const socket = createSocket({ type: "udp4", recvBufferSize: 4 * 1_024 * 1_024 });
  socket.connect(port, "127.0.0.1");
  await once(socket, "connect");
  return socket;
}

import type { Socket } from "node:net";
import { drip } from "./peer.ts";

/** What a peer does, how, and the fault that a request to it must end with. */
export const HOSTILE_PEERS: readonly (readonly [
  name: string,
  (socket: Socket) => void,
  want: string,
])[] = [
  ["answers nothing at all", () => undefined, "timeout"],
  ["drips its status line", (socket) => drip(socket, "H"), "malformed"],
  [
    "drips headers",
    (socket) => (socket.write("HTTP/1.1 200 OK\r\n"), drip(socket, "a: b\r\n")),
    "timeout",
  ],
  [
    "drips its body",
    (socket) => (socket.write("HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n"), drip(socket, "x")),
    "timeout",
  ],
  ["closes at once", (socket) => socket.end(), "broken"],
  [
    "resets when it is asked",
    (socket) => socket.on("data", () => socket.resetAndDestroy()),
    "broken",
  ],
  [
    "closes in the middle of its body",
    (socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\nabc"),
    "broken",
  ],
  ["speaks another protocol", (socket) => socket.end("SSH-2.0-OpenSSH_9\r\n"), "malformed"],
  [
    "sends headers without end",
    (socket) => drip(socket, "HTTP/1.1 200 OK\r\n" + `a: ${"b".repeat(9_000)}\r\n`),
    "malformed",
  ],
  [
    "gives two lengths",
    (socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab"),
    "malformed",
  ],
  [
    "gives a length and chunks",
    (socket) =>
      socket.end(
        "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
      ),
    "malformed",
  ],
  [
    "sends interim answers without end",
    (socket) => drip(socket, "HTTP/1.1 103 Early Hints\r\n\r\n"),
    "malformed",
  ],
  [
    "switches protocols",
    (socket) =>
      socket.write("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"),
    "malformed",
  ],
];

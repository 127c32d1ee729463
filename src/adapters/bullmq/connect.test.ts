import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { connect } from "./connect.ts";

test("rediss: names the host in its first octets", async (t) => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => void sockets.push(socket.on("error", () => undefined)));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  // Of any attempt: on a busy machine the first one may be given up before it has said anything.
  const first = new Promise<Buffer>((resolve) => {
    server.on("connection", (socket: Socket) => socket.once("data", resolve));
  });
  const client = connect(`rediss://localhost:${String(port)}`, { warn: () => undefined });
  t.after(() => {
    client.disconnect();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  assert.ok((await first).includes("localhost"), "server_name (RFC 6066 section 3)");
});

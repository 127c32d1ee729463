import assert from "node:assert/strict";
import { Readable, Writable } from "node:stream";
import { test } from "node:test";
import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { answeringTransport } from "./stdio.ts";

/** What comes through, and what is written, for a text that arrives in pieces of so many octets. */
async function told(text: string, octets: number) {
  const [read, written]: [unknown[], unknown[]] = [[], []];
  const bytes = Buffer.from(text);
  const pieces = Array.from({ length: Math.ceil(bytes.length / octets) }, (_, at) =>
    bytes.subarray(at * octets, (at + 1) * octets),
  );
  const output = new Writable({
    write(line: Buffer, _encoding, done) {
      written.push(JSON.parse(line.toString()));
      done();
    },
  });
  const { transport, ended } = answeringTransport(Readable.from(pieces), output);
  transport.onmessage = (message: JSONRPCMessage) => {
    read.push(message);
    if ("id" in message && "method" in message)
      void transport.send({ jsonrpc: "2.0", id: message.id ?? 0, result: {} });
  };
  await transport.start();
  await ended;
  return { read, written };
}

const ping = (id: unknown) => JSON.stringify({ jsonrpc: "2.0", id, method: "ping" });
const LONG = "a".repeat(1_048_576);
const params = { name: "check", arguments: { entry: LONG, id: 5 } };

const LINES: readonly (readonly [name: string, line: string, id: unknown])[] = [
  ["its id in front", JSON.stringify({ jsonrpc: "2.0", id: 7, method: "tools/call", params }), 7],
  ["its id at the end", JSON.stringify({ method: "tools/call", params, id: "x" }), "x"],
  ["between two others", JSON.stringify({ method: "x", params, id: -1, jsonrpc: "2.0" }), -1],
  ["no id of its own", JSON.stringify({ method: "x", params }), null],
  ["an id that is none", `{"id":"\\x","method":"${LONG}"}`, null],
  ["an id inside a text", JSON.stringify({ method: '"id":3', params }), null],
  ["no JSON", LONG + LONG, null],
];

for (const [name, line, id] of LINES) {
  for (const octets of [65_536, 3_000_000]) {
    test(`a line above the limit is refused, and what follows is read: ${name}, ${String(octets)}`, async () => {
      const { read, written } = await told(`${ping(1)}\n${line}\n${ping(2)}\n`, octets);
      assert.deepEqual(
        read.map((message) => (message as { id: unknown }).id),
        [1, 2],
      );
      const error = { code: -32_600, message: "A message has at most 1048576 octets." };
      const refused = written.filter((answer) => Object.hasOwn(Object(answer), "error"));
      assert.deepEqual(refused, [{ jsonrpc: "2.0", id, error }]);
      assert.equal(written.length, 3);
    });
  }
}

import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { LineTransport } from "./lines.ts";

interface Line {
  readonly id?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

/** A transport whose requests are answered with their own id, but those of the method "never". */
async function told(...chunks: readonly string[]): Promise<readonly (Line | readonly Line[])[]> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const transport = new LineTransport(input, output);
  const seen: string[] = [];
  transport.onmessage = (message) => {
    if (!("method" in message)) return;
    seen.push(message.method);
    if (!("id" in message) || message.method === "never") return;
    void transport.send({ jsonrpc: "2.0", id: message.id, result: {} });
  };
  await transport.start();
  for (const chunk of chunks) input.write(chunk);
  input.end();
  await transport.ended;
  await transport.close();
  output.end();
  const text = (await output.toArray()).join("");
  return text === ""
    ? []
    : text
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as Line);
}

const ask = (id: number | string, method = "ping"): string =>
  JSON.stringify({ jsonrpc: "2.0", id, method });
const cancel = (requestId: number): string =>
  JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } });
const failed = (code: number, id: unknown = null) => ({ code, id });
const shown = (line: Line | readonly Line[]): unknown => {
  if (Array.isArray(line)) return line.map((each) => shown(each as Line));
  const { id, error } = line as Line;
  return error === undefined ? id : failed(error.code, id);
};

const LONG = "x".repeat(1_000_001);

for (const [name, chunks, wanted] of [
  ["a request in pieces", ['{"jsonrpc":"2.0","id":1,', '"method":"ping"}\r\n'], [1]],
  ["two requests in one piece, and an empty line", [`${ask(1)}\n\n${ask("a")}\n`], [1, "a"]],
  ["broken JSON, and what follows it", [`{"id":\n${ask(1)}\n`], [failed(-32_700), 1]],
  ["JSON that is no message", [`{"id":7}\n5\n`], [failed(-32_600, 7), failed(-32_600)]],
  ["one error for a message that is too long", [LONG, LONG, `\n${ask(1)}\n`], [failed(-32_600), 1]],
  ["a batch is answered in one line", [`[${ask(1)},${ask(2)}]\n`], [[1, 2]]],
  ["a batch of notifications is not answered", [`[${cancel(9)}]\n`], []],
  ["a batch with no message in it", [`[${ask(1)},5]\n`], [[1, failed(-32_600)]]],
  ["a batch without messages", ["[]\n"], [failed(-32_600)]],
  [
    "a batch with too many",
    [`[${Array.from({ length: 101 }, () => ask(1)).join(",")}]\n`],
    [failed(-32_600)],
  ],
  [
    "a cancelled request holds nothing up",
    [`[${ask(1, "never")},${ask(2)}]\n${cancel(1)}\n`],
    [[2]],
  ],
] as const) {
  test(name, async () => {
    assert.deepEqual((await told(...chunks)).map(shown), wanted);
  });
}

test("nothing more is read while the agent reads nothing", async () => {
  const [input, output] = [new PassThrough(), new PassThrough({ highWaterMark: 10 })];
  const transport = new LineTransport(input, output);
  await transport.start();
  input.write("broken\n");
  await new Promise((resolve) => void setImmediate(resolve));
  assert.equal(input.isPaused(), true);
  output.resume();
  await new Promise((resolve) => void output.once("drain", resolve));
  assert.equal(input.isPaused(), false);
});

test("it ends when the agent is gone", async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const transport = new LineTransport(input, output);
  await transport.start();
  output.destroy(new Error("EPIPE"));
  await transport.ended;
});

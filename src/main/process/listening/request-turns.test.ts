import { strict as assert } from "node:assert";
import type { IncomingMessage, ServerResponse } from "node:http";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Rush } from "./rush.ts";
import { requestTurns } from "./request-turns.ts";

const LONG = 5;

/** Requests that note what became of them, in order. */
function world() {
  let crowded = 0;
  const inTurn = requestTurns(new Rush(), () => (crowded += 1));
  const noted: string[] = [];
  const come = (address: string, weight = 1, octets = 200): void => {
    const request = { socket: { remoteAddress: address }, headers: {} } as IncomingMessage;
    const response = {
      writeHead: (status: number, headers: Readonly<Record<string, string>>) => {
        noted.push(`${address} ${String(status)} ${headers["retry-after"] ?? ""}`);
        return { end: () => undefined };
      },
    } as unknown as ServerResponse;
    const size = { weight, octets, hasLongTarget: weight === LONG };
    inTurn(request, response, size, () => void noted.push(address));
  };
  return { come, noted, crowded: () => crowded };
}

test("16 requests begin in one turn, and a long one counts as several", async () => {
  const { come, noted } = world();
  for (let count = 0; count < 18; count += 1) come("192.0.2.1");
  assert.equal(noted.length, 16);
  await nextTurn();
  assert.equal(noted.length, 18);
  await nextTurn();
  noted.length = 0;
  for (let count = 0; count < 8; count += 1) come("192.0.2.1", LONG);
  assert.equal(noted.length, 4, "the fourth is begun while there is room for one");
});

test("long requests of an address beyond eight that wait are refused, ordinary ones wait", () => {
  const { come, noted } = world();
  for (let count = 0; count < 4 + 8; count += 1) come("192.0.2.1", LONG);
  noted.length = 0;
  come("192.0.2.1", LONG);
  come("192.0.2.1");
  come("192.0.2.2", LONG);
  assert.deepEqual(noted, ["192.0.2.1 429 5"]);
});

test("long requests are refused when 256 requests wait", () => {
  const { come, noted } = world();
  for (let count = 0; count < 16 + 256; count += 1) come(`192.0.2.${String(count % 200)}`);
  noted.length = 0;
  come("198.51.100.1");
  come("198.51.100.1", LONG);
  assert.deepEqual(noted, ["198.51.100.1 503 5"]);
});

test("many long heads that wait are a crowd, many short ones are not", async () => {
  const { come, crowded } = world();
  for (let count = 0; count < 1_000; count += 1) come("192.0.2.1");
  assert.equal(crowded(), 0);
  while (crowded() === 0) come("192.0.2.1", 1, 12_000);
  for (let left = 1_100; left > 0; left -= 16) await nextTurn();
  const before = crowded();
  for (let count = 0; count < 17; count += 1) come("192.0.2.1", 1, 12_000);
  assert.equal(crowded(), before, "those that have begun no longer count");
});

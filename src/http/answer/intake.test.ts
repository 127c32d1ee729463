import { strict as assert } from "node:assert";
import { Readable } from "node:stream";
import { mock, test } from "node:test";
import type { HttpRequest } from "./route.ts";
import { drop, pace } from "./intake.ts";

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

mock.timers.enable({ apis: ["setTimeout"] });

const QUARTER = 131_072; // of a turn

/** A body that waits for more octets. */
const open = (headers: HttpRequest["headers"] = {}): HttpRequest =>
  Object.assign(new Readable({ read: () => undefined }), { headers }) as HttpRequest;

test("large bodies wait for the next turn once a turn has taken 512 KiB", async () => {
  await turn();
  const sources = ["a", "a", "a", "b", "a", "c"].map((owner) => ({ owner, source: open() }));
  const isNow = sources.map(({ source, owner }) => pace(source, QUARTER, owner));
  assert.deepEqual(isNow, [true, true, true, true, false, false]);
  assert.deepEqual(
    sources.map(({ source }) => source.isPaused()),
    [false, false, false, false, true, true],
  );
  await turn();
  assert.ok(sources.every(({ source }) => !source.isPaused()));
});

test("of refused bodies an owner has 16 that wait to be dropped, others of it are cut", async () => {
  await turn();
  const owners = [...Array<string>(40).fill("a"), "b"];
  const sources = owners.map((owner) => ({ owner, source: open() }));
  for (const { owner, source } of sources) {
    drop(source, owner);
    drop(source, owner); // it is dropped once
    source.push(Buffer.alloc(QUARTER));
  }
  const areCut = new Promise((resolve) => void sources[39]?.source.once("close", resolve));
  await areCut;
  const cut = sources.filter(({ source }) => source.destroyed).map(({ owner }) => owner);
  assert.deepEqual(cut, Array(40 - 4 - 16).fill("a"));
});

test("a refused body is read to its end", async () => {
  let octets = 0;
  const source = open();
  for (let at = 0; at < 50; at += 1) source.push(Buffer.alloc(QUARTER));
  source.push(null);
  source.on("data", (chunk: Buffer) => (octets += chunk.length));
  drop(source, "c");
  await new Promise((resolve) => source.once("end", resolve));
  assert.equal(octets, 50 * QUARTER);
});

test("refused bodies are dropped at a rate; small ones and bodies that are taken do not wait for it", async () => {
  const turns = async (count: number): Promise<void> => {
    for (let at = 0; at < count; at += 1) await turn();
  };
  const flood = open();
  let octets = 0;
  flood.on("data", (chunk: Buffer) => (octets += chunk.length));
  for (let at = 0; at < 400; at += 1) flood.push(Buffer.alloc(QUARTER));
  drop(flood, "a");
  await turns(200);
  const burst = octets;
  assert.ok(burst > 16 * 1_048_576 && burst < 34 * 1_048_576, String(burst));
  for (let at = 0; at < 4; at += 1) mock.timers.tick(32);
  await turns(20);
  assert.equal(octets - burst, 2 * 1_048_576);
  const small = open({ "content-length": "5" });
  small.push("small");
  small.push(null);
  drop(small, "b");
  await turns(2);
  assert.ok(small.readableEnded);
  assert.ok(pace(open(), QUARTER, "b"));
});

import { strict as assert } from "node:assert";
import { Readable } from "node:stream";
import { test } from "node:test";
import type { HttpRequest } from "./route.ts";
import { drop, pace } from "./intake.ts";

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

const QUARTER = 131_072; // of a turn

/** A body that waits for more octets. */
const open = (): HttpRequest => new Readable({ read: () => undefined }) as HttpRequest;

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
  const source = Readable.from(Array.from({ length: 50 }, () => Buffer.alloc(QUARTER)));
  source.on("data", (chunk: Buffer) => (octets += chunk.length));
  drop(source as HttpRequest, "c");
  await new Promise((resolve) => source.once("end", resolve));
  assert.equal(octets, 50 * QUARTER);
});

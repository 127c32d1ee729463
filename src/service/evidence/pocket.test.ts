import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../../test/time/manual-clock.ts";
import { keptLog } from "../../../test/process/kept-log.ts";
import { type LiteralKnowledge, literalDatasets } from "../../../test/lists/literal-datasets.ts";
import { readPocket, type ReadPocket } from "../../../test/lists/read-pocket.ts";
import { createCurrentFile } from "./current-file.ts";
import { makePocket, type PocketSource } from "./pocket.ts";

const key = new Uint8Array(16).fill(9);
const pause = (): Promise<void> => Promise.resolve();

const KNOWN: LiteralKnowledge = {
  curated: ["trash.example", "below.list.example", "xn--mll-hoa.example", "good.allowed.example"],
  first: ["single.example", "gmial.com"],
  weak: ["weak.example"],
  families: ["family.example"],
  knownGood: ["honest.trash.example", "gmail.com"],
  domains: {
    "denied.example": "deny",
    "*.zone.example": "deny",
    "open.zone.example": "allow",
    "free.trash.example": "allow",
    "*.free.trash.example": "allow",
    "*.allowed.example": "allow",
    "single.example": "allow",
  },
};

function source(known: LiteralKnowledge, version = 1): PocketSource {
  const datasets = { ...literalDatasets(known), version };
  const { curated = [], first = [], weak = [], families = [], knownGood = [] } = known;
  const names = (): readonly string[] => [
    ...[curated, first, weak, families, knownGood].flat(),
    ...datasets.operator.names(),
    "dpdns.org",
  ];
  return { datasets, names };
}

const pocketOf = async (known: LiteralKnowledge): Promise<ReadPocket> =>
  readPocket((await makePocket(source(known), { key, pause })).body);

test("the pocket list holds what lists and the operator reject, and nothing else", async () => {
  const pocket = await pocketOf(KNOWN);
  const cases: readonly (readonly [domain: string, isListed: boolean, why: string])[] = [
    ["trash.example", true, "a curated name"],
    ["a.b.trash.example", true, "below a curated name"],
    ["TRASH.example", true, "in capitals"],
    ["trash.example.org", false, "a listed name as a label of another"],
    ["example", false, "above a listed name"],
    ["list.example", false, "a parent of a listed name"],
    ["below.list.example", true, "a listed name below another"],
    ["single.example", false, "an uncurated name that the operator allows"],
    ["weak.example", false, "a weak list alone never decides"],
    ["family.example", false, "the registrable domain of a family"],
    ["any.family.example", true, "below the registrable domain of a family"],
    ["gmial.com", false, "a typing error is challenged, not rejected"],
    ["gmail.com", false, "a large provider"],
    ["honest.trash.example", false, "known good below a listed name"],
    ["x.honest.trash.example", true, "below it the listed name counts again"],
    ["free.trash.example", false, "allowed by the operator below a listed name"],
    ["x.free.trash.example", false, "below an allowed suffix"],
    ["good.allowed.example", false, "listed below an allowed suffix"],
    ["denied.example", true, "denied by the operator"],
    ["zone.example", false, "a denied suffix itself"],
    ["x.zone.example", true, "below a denied suffix"],
    ["open.zone.example", false, "allowed below a denied suffix"],
    ["any.dpdns.org", true, "below a registry of free names"],
    ["dpdns.org", false, "the registry itself"],
    ["xn--mll-hoa.example", true, "an internationalised name in A-labels"],
    ["m\u00fcll.example", true, "the same as people write it"],
    ["MU\u0308LL.example", true, "the same, decomposed and in capitals"],
    ["unlisted.example", false, "an honest name"],
  ];
  for (const [domain, isListed, why] of cases) {
    assert.equal(pocket.has(domain), isListed, `${domain}: ${why}`);
  }
});

test("the file has the key, sections in order, and the same bytes for the same lists", async () => {
  const { body, etag } = await makePocket(source(KNOWN), { key, pause });
  const again = await makePocket(source(KNOWN), { key, pause });
  assert.equal(etag, again.etag);
  assert.match(etag, /^"[0-9a-f]{32}"$/);
  const { head } = readPocket(body);
  assert.equal(
    Object.keys(head).join(" "),
    "format version key domains exact below allowed allowed_below left_out",
  );
  assert.equal(head["key"], "09".repeat(16));
  const other = await makePocket(source({ ...KNOWN, curated: [] }), { key, pause });
  assert.notEqual(other.etag, etag);
});

test("a file without room for all keeps exceptions and curated names, and counts what it left out", async () => {
  const first = Array.from({ length: 400 }, (_, at) => `single-${String(at)}.example`);
  const known = { ...KNOWN, first };
  const { body } = await makePocket(source(known), { key, pause, maxBytes: 1_400 });
  assert.ok(body.length <= 1_400, String(body.length));
  const pocket = readPocket(body);
  assert.ok(pocket.has("trash.example") && pocket.has("x.zone.example"));
  assert.ok(!pocket.has("honest.trash.example"));
  const kept = first.filter((name) => pocket.has(name)).length;
  assert.ok(kept > 0 && kept < 400, String(kept));
  assert.equal(pocket.head["left_out"], 400 - kept);
});

test("a changed list is made anew in the background, up to once a minute", async () => {
  const clock = manualClock();
  let now = source(KNOWN);
  const log = keptLog();
  const pocket = createCurrentFile({
    make: () => makePocket(now, { key, pause }),
    version: () => now.datasets.version,
    clock,
    log,
    name: "pocket",
  });
  const first = await pocket.current();
  now = source({ ...KNOWN, curated: [] }, 2);
  assert.equal(await pocket.current(), first, "within the minute");
  clock.advance(60_000);
  assert.equal(await pocket.current(), first, "while the next is made");
  await new Promise((resolve) => void setImmediate(resolve));
  assert.notEqual((await pocket.current()).etag, first.etag);
  now = { ...now, datasets: { ...now.datasets, version: 3 }, names: failing };
  clock.advance(60_000);
  const kept = await pocket.current();
  await new Promise((resolve) => void setImmediate(resolve));
  assert.equal(await pocket.current(), kept, "a failure leaves what there is");
  assert.deepEqual(log.events, ["pocket.make_failed"]);
});

function failing(): never {
  throw new Error("no names");
}

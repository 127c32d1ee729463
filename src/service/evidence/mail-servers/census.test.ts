import { strict as assert } from "node:assert";
import { test } from "node:test";
import { mailWorld } from "../../../../test/dns/mail-world.ts";
import { zoneLookup } from "../../../../test/dns/zone-lookup.ts";
import { manualClock } from "../../../../test/time/manual-clock.ts";
import { parseCensus, censusText } from "../../../adapters/lists/files/census-file.ts";
import type { Lookup } from "../../../core/mail/lookup.ts";
import type { Census } from "../../../ports/evidence/census.ts";
import { openSignedCensus, signCensus } from "./census-exchange.ts";
import { censusNames, mergedCensus, takeCensus } from "./census.ts";

const { domains, zone } = mailWorld();
const HONEST = domains.filter(({ disposable }) => !disposable).map(({ name }) => name);

/** A census of `names` on the synthetic world; each turn moves the clock by one second. */
function world(names: readonly string[]) {
  const clock = manualClock();
  const lookup = zoneLookup(zone);
  const state: { kept?: Census; isSilent: boolean; isStopped: boolean; asked: number } = {
    isSilent: false,
    isStopped: false,
    asked: 0,
  };
  const mx: Lookup["mx"] = (name) => {
    state.asked += 1;
    return state.isSilent ? { kind: "unknown", why: "timeout" } : lookup.mx(name);
  };
  const deps = {
    lookup: { mx, addresses: (host: string) => lookup.addresses(host) },
    store: {
      read: () => state.kept,
      save: (census: Census) => void (state.kept = structuredClone(census)),
    },
    clock,
  };
  const options = { rate: 100, isStopped: () => state.isStopped };
  return {
    state,
    run: async (steps = 200): Promise<Census> => {
      let result: Census | undefined;
      const running = takeCensus(names, deps, options).then((census) => (result = census));
      for (let step = 0; step < steps && result === undefined; step += 1) {
        for (let turns = 0; turns < 8; turns += 1) await new Promise(setImmediate);
        clock.advance(1_000);
      }
      if (result === undefined) state.isStopped = true;
      for (let step = 0; result === undefined && step < 40; step += 1) {
        clock.advance(1_000);
        await new Promise(setImmediate);
      }
      return running;
    },
  };
}

test("a census counts each honest domain once at its host and its address, and names no domain", async () => {
  const census = await world(HONEST).run();
  assert.equal(census.asked, HONEST.length);
  assert.ok(census.domains > 1_000);
  const counts = new Map<string, number>();
  for (const { disposable, host, address } of domains) {
    if (disposable || host.endsWith("cloudflare.net")) continue;
    for (const server of [host, address]) counts.set(server, (counts.get(server) ?? 0) + 1);
  }
  assert.deepEqual(new Map(census.servers), counts);
  const text = censusText(census);
  for (const name of HONEST.slice(0, 200)) assert.ok(!text.includes(`\n${name} `), name);
});

test("a census that is stopped goes on where it stopped, and gives the same counts", async () => {
  const { state, run } = world(HONEST);
  const part = await run(5);
  assert.ok(part.asked > 0 && part.asked < HONEST.length);
  state.isStopped = false;
  const before = state.asked;
  const whole = await run();
  assert.equal(whole.asked, HONEST.length);
  assert.ok(state.asked - before <= HONEST.length - part.asked);
  const { servers } = await world(HONEST).run();
  assert.deepEqual(new Map(whole.servers), new Map(servers));
});

test("while DNS is silent the census waits and counts nothing as asked", async () => {
  const { state, run } = world(HONEST);
  state.isSilent = true;
  const census = await run(60);
  assert.equal(census.asked, 0);
  assert.ok(state.asked <= 200);
});

test("a file of other names begins a new census", async () => {
  const { state, run } = world(HONEST.slice(0, 300));
  await run();
  const other = world(HONEST.slice(300, 500));
  if (state.kept !== undefined) other.state.kept = state.kept;
  assert.equal((await other.run()).names, 200);
});

test("names are read from plain lists and from ranked ones, each registrable domain once", () => {
  const text =
    "# remark\n1,Example.COM\r\n2,www.example.com\n\nb\u00fccher.example\nno name\n3,co.uk\n";
  assert.deepEqual(censusNames(text), ["example.com", "xn--bcher-kva.example"]);
});

const CENSUS: Census = {
  day: 20_000,
  source: "0".repeat(64),
  asked: 10,
  names: 10,
  domains: 9,
  servers: new Map([
    ["mx.example", 3],
    ["2001:db8::1", 2],
  ]),
};

test("a census file is read as it was written, and nothing else is", () => {
  const text = censusText(CENSUS);
  assert.deepEqual(parseCensus(text), CENSUS);
  for (const odd of [
    "",
    "{}",
    text.slice(0, -1),
    text.replace(" 3", " 0"),
    text.replace(" 3", " x"),
    `${text}a 1\n`,
  ]) {
    assert.equal(parseCensus(odd), undefined);
  }
});

test("two censuses give the larger count of each server", () => {
  const other = { ...CENSUS, day: 20_001, domains: 20, servers: new Map([["mx.example", 7]]) };
  const merged = mergedCensus(CENSUS, other);
  assert.deepEqual(
    [...merged.servers],
    [
      ["mx.example", 7],
      ["2001:db8::1", 2],
    ],
  );
  assert.deepEqual([merged.day, merged.domains], [20_001, 20]);
});

const KEY = new Uint8Array(32).fill(7);

test("a signed census opens with the fingerprint of its key, the same for the same installation", () => {
  const { file, fingerprint } = signCensus(censusText(CENSUS), KEY);
  assert.deepEqual(openSignedCensus(file), { text: censusText(CENSUS), fingerprint });
  assert.equal(signCensus("other", KEY).fingerprint, fingerprint);
  assert.notEqual(signCensus("other", new Uint8Array(32)).fingerprint, fingerprint);
});

const { file: SIGNED } = signCensus(censusText(CENSUS), KEY);
const TAMPERED: readonly (readonly [name: string, file: string])[] = [
  ["an empty file", ""],
  ["a census without a signature", censusText(CENSUS)],
  ["a changed count", SIGNED.replace("mx.example 3", "mx.example 4")],
  ["a cut end", SIGNED.slice(0, -1)],
  ["another format", SIGNED.replace("gatepost-census-1", "gatepost-census-2")],
  ["a key of another length", SIGNED.replace(/"key":"..../, '"key":"')],
  ["a signature of another file", SIGNED.replace(/"signature":"..../, '"signature":"AAAA')],
  ["no JSON", `x${SIGNED}`],
];

for (const [name, file] of TAMPERED) {
  test(`a signed census is refused: ${name}`, () => {
    assert.equal(openSignedCensus(file), undefined);
  });
}

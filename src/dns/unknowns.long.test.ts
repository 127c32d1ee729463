import { strict as assert } from "node:assert";
import { test } from "node:test";
import {
  seeded,
  SimulatedClock,
  type SimulatedPath,
  SimulatedServer,
} from "../../test/dns/simulated-network.ts";
import { MX } from "./message/records.ts";
import { createResolver } from "./resolver.ts";
import { SharedCap } from "./flow/window.ts";

/** Live names of one path; the bound is one in 100,000 over all paths of a profile. */
const NAMES = 20_000;
const UNDER_WAY = 500;
const BOUND = 1 / 100_000;

const PATHS: readonly SimulatedPath[] = [
  { medianMs: 20 },
  ...[30, 80, 150, 250].flatMap((medianMs) => [0.6, 1].map((sigma) => ({ medianMs, sigma }))),
].map((path) => ({ ...path, loss: 0.01 }));

/** How many live names end without an answer. */
function unknownOn(path: SimulatedPath, profile: "interactive" | "bulk"): number {
  const clock = new SimulatedClock();
  const server = new SimulatedServer(path, clock, seeded(15));
  const resolver = createResolver({
    servers: [{ host: "192.0.2.53", port: 53 }],
    profile,
    clock,
    random: (count) => new Uint8Array(count),
    cap: new SharedCap(2_000),
    openUdp: server.openUdp,
  });
  let asked = 0;
  let settled = 0;
  let unknown = 0;
  const next = (): void => {
    if (asked === NAMES) return;
    asked += 1;
    resolver.ask({ name: `d${String(asked)}.example`, kind: MX }, (reply) => {
      settled += 1;
      if (reply.kind !== "found") unknown += 1;
      next();
    });
  };
  for (let count = 0; count < UNDER_WAY; count += 1) next();
  clock.run(() => settled === NAMES, Infinity);
  assert.equal(settled, NAMES);
  return unknown;
}

for (const profile of ["interactive", "bulk"] as const) {
  test(`${profile}: with 1 % loss each way at most one live name in 100,000 has no answer`, (t) => {
    let sum = 0;
    for (const path of PATHS) {
      const unknown = unknownOn(path, profile);
      sum += unknown;
      const { medianMs, sigma = 0 } = path;
      t.diagnostic(`${String(medianMs)} ms, sigma ${String(sigma)}: ${String(unknown)} unknown`);
    }
    assert.ok(sum <= PATHS.length * NAMES * BOUND, `${String(sum)} unknown`);
  });
}

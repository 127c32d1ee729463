import { test } from "node:test";
import { hasTool, testWith } from "../process/require-tool.ts";
import { oneRound, type People, revive } from "./rounds.ts";
import { killOne, ROUNDS, survive } from "./survive.ts";

test(`a server killed ${String(ROUNDS)} times, with its machine or alone, keeps its promises`, async (t) => {
  t.diagnostic(await survive("sqlite", ROUNDS, killOne));
});

const DISK_FAULTS = ["pwrite64:error=ENOSPC", "pwrite64:error=EIO", "fdatasync:error=EIO"];

/** The disk of a server refuses some of its writes or syncs, from inside of a commit on. */
async function failDisk(people: People): Promise<void> {
  const { front } = people;
  const { places } = front.ground;
  const fault = front.chance.pick(DISK_FAULTS);
  const first = 60 + front.chance.below(150);
  const last = first + front.chance.below(40);
  const inject = `inject=${fault}:when=${String(first)}..${String(last)}`;
  await Promise.all(places.map((place) => place.stop("SIGTERM")));
  const strace = ["strace", "-D", "-f", "-qq", "--seccomp-bpf", "-o", "/dev/null"];
  await revive(places, [...strace, "-e", "trace=pwrite64,fdatasync", "-e", inject]);
  front.storeFails = true;
  for (const place of places) place.strike = { kind: "moment", afterMs: 2_000 };
  people.died(await oneRound(people), false);
}

testWith(
  ["strace"],
  hasTool("strace") ? [] : ["strace"],
  "a server whose disk fails writes and syncs in the middle of commits keeps its promises",
  async (t) => {
    const rounds = Math.ceil(ROUNDS / 4);
    // It refuses up to 40 writes in a row, so more than one attempt of a webhook may fall among them.
    t.diagnostic(await survive("sqlite", rounds, failDisk, 4 * rounds));
  },
);

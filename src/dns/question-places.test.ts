import { strict as assert } from "node:assert";
import { test } from "node:test";
import { manualClock } from "../../test/time/manual-clock.ts";
import type { Answer } from "../core/mail/lookup.ts";
import { RESOURCES } from "../base/resources.ts";
import { Share } from "../base/shares.ts";
import { createDnsLookup } from "./lookup.ts";
import type { Resolver } from "./resolver.ts";

const turns = async (count = 3): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) {
    await new Promise<void>((resolve) => void setImmediate(resolve));
  }
};

/** A resolver that answers a name when the test says so, "no such name", behind a share of `total` places. */
function world(total: number, perOwner = total - 1) {
  const clock = manualClock();
  const asked: string[] = [];
  const open = new Map<string, () => void>();
  const resolver: Resolver = {
    ask({ name }, done) {
      asked.push(name);
      open.set(name, () => done({ kind: "absent", why: "noName", ttlSeconds: 60 }, 0));
    },
    room: () => undefined,
    stats: () => assert.fail("not asked for"),
    close: () => undefined,
  };
  const row = { ...RESOURCES.questions, total, perOwner, reservePart: 0 };
  const share = new Share("questions", row);
  const { mx } = createDnsLookup(resolver, { clock, questions: share });
  const said = (name: string): void => open.get(name)?.();
  const ask = (name: string, by?: string): Promise<Answer<unknown>> =>
    Promise.resolve(mx(`${name}.example`, by));
  return { clock, asked, ask, share, said: (name: string) => said(`${name}.example`) };
}

test("another owner's question is asked before the first owner's next, however many that one has", async () => {
  const { ask, asked, said } = world(2, 2);
  const names = ["a1", "a2", "a3", "a4", "b1", "b2"];
  const answers = names.map((name) => ask(name, name.slice(0, 1)));
  assert.deepEqual(asked, ["a1.example", "a2.example"]);
  for (const name of ["a1", "a2", "b1", "a3", "b2", "a4"]) {
    await turns();
    said(name);
  }
  await Promise.all(answers);
  assert.deepEqual(
    asked,
    ["a1", "a2", "b1", "a3", "b2", "a4"].map((name) => `${name}.example`),
  );
});

test("nobody waits behind another owner's questions for a name that both ask for", async () => {
  const { ask, asked, said, share } = world(3, 2);
  const busy = [ask("a1", "a"), ask("a2", "a"), ask("a3", "a"), ask("both", "a")];
  const other = ask("both", "b");
  await turns();
  assert.deepEqual(asked, ["a1.example", "a2.example", "both.example"]);
  said("both");
  assert.equal((await other).kind, "absent");
  for (const name of ["a1", "a2", "a3"]) {
    said(name);
    await turns();
  }
  await Promise.all(busy);
  assert.equal(asked.length, 4);
  assert.equal(share.figures().used, 0);
});

test("what the program itself asks needs no place", async () => {
  const { ask, said, share } = world(2);
  const own = Array.from({ length: 10 }, (_, at) => ask(`own${String(at)}`));
  assert.equal(share.figures().used, 0);
  for (let at = 0; at < 10; at += 1) said(`own${String(at)}`);
  await Promise.all(own);
});

test("a turn that comes after 2 s is given on, and the answer is not kept", async () => {
  const { ask, asked, said, clock, share } = world(2, 1);
  const first = ask("a1", "a");
  const late = ask("a2", "a");
  clock.advance(2_001);
  said("a1");
  assert.deepEqual(await late, { kind: "unknown", why: "deadline" });
  assert.deepEqual(asked, ["a1.example"]);
  await first;
  const again = ask("a2", "a");
  said("a2");
  assert.equal((await again).kind, "absent");
  assert.equal(share.figures().used, 0);
});

test("questions over the owner's queue could not be told, and others' are asked", async () => {
  const clock = manualClock();
  const share = new Share("questions", { ...RESOURCES.questions, perOwner: 1, queuePerOwner: 1 });
  const silent: Resolver = {
    ask: () => undefined,
    room: () => undefined,
    stats: () => assert.fail("not asked for"),
    close: () => undefined,
  };
  const { txt } = createDnsLookup(silent, { clock, questions: share });
  void txt("a1.example", "a");
  void txt("a2.example", "a");
  assert.deepEqual(await txt("a3.example", "a"), { kind: "unknown", why: "deadline" });
  void txt("b1.example", "b");
  assert.equal(share.figures().used, 2);
});

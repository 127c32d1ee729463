import assert from "node:assert/strict";
import { test } from "node:test";
import type { Hook, HookCall, Hooks } from "../../../src/ports/policy/hooks.ts";
import type { Make } from "../contract.ts";

const hook = (id: string, more: Partial<Hook> = {}): Hook => ({
  id,
  accountId: "a1",
  system: "supabase",
  policy: "default",
  challenge: "accept",
  secret: "sealed",
  createdAtMs: 1,
  ...more,
});

const call = (atMs: number, outcome: HookCall["outcome"]): HookCall => ({
  atMs,
  outcome,
  why: "reject: disposable",
  durationMs: 3,
});

/** What every store of hooks promises. `make` gives an empty one with the accounts a1 and a2. */
export function hooksContract(name: string, make: Make<Hooks>): void {
  const check = (rule: string, run: (hooks: Hooks) => Promise<void>) =>
    void test(`${name}: ${rule}`, async (t) => run(await make(t)));

  check("hooks are found by id and listed newest first", async (hooks) => {
    const second = hook("h2", { createdAtMs: 2, jwksUrl: "https://auth.example/jwks" });
    assert.equal(await hooks.create(hook("h1"), 3), true);
    assert.equal(await hooks.create(second, 3), true);
    assert.deepEqual(await hooks.find("h2"), second);
    assert.deepEqual(await hooks.list("a1"), [second, hook("h1")]);
    assert.deepEqual([await hooks.find("h3"), await hooks.list("a2")], [undefined, []]);
  });

  check("an account has so many hooks, also at once", async (hooks) => {
    const made = ["a", "b", "c", "d"].map((id) => hooks.create(hook(id), 2));
    assert.deepEqual((await Promise.all(made)).filter(Boolean).length, 2);
    assert.equal(await hooks.create(hook("e", { accountId: "a2" }), 2), true);
  });

  check("a secret is replaced, a hook removed with its counts", async (hooks) => {
    await hooks.create(hook("h1"), 3);
    assert.equal(await hooks.setSecret("h1", "other"), true);
    assert.equal((await hooks.find("h1"))?.secret, "other");
    const counts = [{ day: 5, hookId: "h1", outcome: "refused", count: 1 }] as const;
    await hooks.note({ counts, lastCalls: new Map(), lastFailures: new Map() });
    assert.equal(await hooks.remove("h1"), true);
    assert.deepEqual([await hooks.remove("h1"), await hooks.setSecret("h1", "")], [false, false]);
    assert.equal((await hooks.standing("h1", 0)).counts.refused, 0);
  });

  check("calls are counted, and the last ones kept", async (hooks) => {
    await hooks.create(hook("h1"), 3);
    const news = {
      counts: [
        { day: 5, hookId: "h1", outcome: "refused", count: 2 },
        { day: 4, hookId: "h1", outcome: "failed_open", count: 1 },
        { day: 5, hookId: "gone", outcome: "refused", count: 9 },
      ],
      lastCalls: new Map([["h1", call(9, "refused")]]),
      lastFailures: new Map([["h1", call(8, "failed_open")]]),
    } as const;
    await hooks.note(news);
    await hooks.note({ ...news, lastCalls: new Map(), lastFailures: new Map() });
    assert.deepEqual(await hooks.standing("h1", 5), {
      lastCall: call(9, "refused"),
      lastFailure: call(8, "failed_open"),
      counts: { accepted: 0, refused: 4, failed_open: 0, unauthenticated: 0 },
    });
    assert.equal(await hooks.prune(5), 1);
    assert.equal((await hooks.standing("h1", 0)).counts.failed_open, 0);
  });
}

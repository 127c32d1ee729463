import assert from "node:assert/strict";
import { test } from "node:test";
import type { SignIns } from "../../../src/accounts/sign-in/sign-ins.ts";
import type { SignInRow } from "../../../src/store/schema.ts";
import type { Make } from "../contract.ts";

export interface LoginSessionsUnderTest {
  readonly sessions: SignIns;
  /** Makes an account of that id. */
  readonly account: (id: string) => Promise<string>;
}

const NOW = 1_000_000;

const made = (id: string, account_id: string, more: Partial<SignInRow> = {}) => ({
  id,
  account_id,
  token_hash: `hash of ${id}`,
  created_at_ms: NOW,
  last_seen_at_ms: NOW,
  expires_at_ms: NOW + 1_000,
  client_address: "192.0.2.1",
  user_agent: "a browser",
  ...more,
});

export function loginSessionsContract(name: string, make: Make<LoginSessionsUnderTest>): void {
  test(`sign-ins, ${name}: one is found by its token until it expires`, async (t) => {
    const { sessions, account } = await make(t);
    await account("a1");
    const row = made("s1", "a1");
    await sessions.create(row);
    assert.deepEqual({ ...(await sessions.find(row.token_hash, NOW + 999)) }, row);
    assert.equal(await sessions.find(row.token_hash, NOW + 1_000), undefined);
    assert.equal(await sessions.find("another", NOW), undefined);
  });

  test(`sign-ins, ${name}: use prolongs one`, async (t) => {
    const { sessions, account } = await make(t);
    await account("a1");
    await sessions.create(made("s1", "a1"));
    const seen = {
      last_seen_at_ms: NOW + 10,
      expires_at_ms: NOW + 5_000,
      client_address: "192.0.2.9",
    };
    await sessions.touch("s1", seen);
    const found = await sessions.find("hash of s1", NOW + 4_000);
    assert.deepEqual({ ...found }, { ...found, ...seen });
  });

  test(`sign-ins, ${name}: an account sees and ends only its own`, async (t) => {
    const { sessions, account } = await make(t);
    for (const id of ["a1", "a2"]) await account(id);
    await sessions.create(made("s1", "a1"));
    await sessions.create(made("s2", "a1", { last_seen_at_ms: NOW + 5 }));
    await sessions.create(made("old", "a1", { expires_at_ms: NOW }));
    await sessions.create(made("s3", "a2"));
    const ids = async (accountId: string) =>
      (await sessions.list(accountId, NOW)).map(({ id }) => id);
    assert.deepEqual(await ids("a1"), ["s2", "s1"]);
    assert.equal(await sessions.end("a1", "s3"), false);
    assert.deepEqual(await ids("a2"), ["s3"]);
    assert.equal(await sessions.end("a1", "s1"), true);
    assert.deepEqual(await ids("a1"), ["s2"]);
  });

  test(`sign-ins, ${name}: of more than a hundred the longest unused end`, async (t) => {
    const { sessions, account } = await make(t);
    for (const id of ["a1", "a2"]) await account(id);
    await sessions.create(made("other", "a2"));
    for (let n = 0; n < 103; n += 1) {
      await sessions.create(made(`s${String(n)}`, "a1", { last_seen_at_ms: NOW + n }));
    }
    const listed = await sessions.list("a1", NOW);
    assert.deepEqual([listed.length, listed[0]?.id, listed.at(-1)?.id], [100, "s102", "s3"]);
    assert.equal((await sessions.list("a2", NOW)).length, 1);
  });

  test(`sign-ins, ${name}: all except one end together`, async (t) => {
    const { sessions, account } = await make(t);
    for (const id of ["a1", "a2"]) await account(id);
    for (const id of ["s1", "s2", "s3"]) await sessions.create(made(id, "a1"));
    await sessions.create(made("other", "a2"));
    assert.equal(await sessions.endAll("a1", "s2"), 2);
    assert.notEqual(await sessions.find("hash of s2", NOW), undefined);
    assert.notEqual(await sessions.find("hash of other", NOW), undefined);
    assert.equal(await sessions.endAll("a1"), 1);
  });

  test(`sign-ins, ${name}: pruning deletes expired ones`, async (t) => {
    const { sessions, account } = await make(t);
    await account("a1");
    await sessions.create(made("s1", "a1"));
    await sessions.create(made("s2", "a1", { expires_at_ms: NOW }));
    assert.equal(await sessions.prune(NOW), 1);
    assert.notEqual(await sessions.find("hash of s1", NOW), undefined);
  });
}

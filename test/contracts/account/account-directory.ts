import assert from "node:assert/strict";
import { test } from "node:test";
import type { Account, Accounts } from "../../../src/accounts/accounts-store.ts";
import type { Make } from "../contract.ts";

export interface AccountDirectoryUnderTest {
  readonly directory: Accounts;
  /** Makes an account of that id with the address `<id>@gatepost.example`. */
  readonly account: (id: string, more?: Partial<Account>) => Promise<string>;
}

export function accountDirectoryContract(
  name: string,
  make: Make<AccountDirectoryUnderTest>,
): void {
  const cases = [
    ["an empty search finds all, by address", "", ["abc", "b%d", "b_d", "xyz"], 4],
    ["a part of the address, in any case", "XY", ["xyz"], 1],
    ["a percent sign stands for itself", "%", ["b%d"], 1],
    ["an underscore stands for itself", "_", ["b_d"], 1],
    ["a backslash stands for itself", "\\", [], 0],
    ["a quote does not end the query's text", "'", [], 0],
  ] as const;
  for (const [what, text, ids, total] of cases) {
    test(`account directory, ${name}: ${what}`, async (t) => {
      const { directory, account } = await make(t);
      for (const id of ["xyz", "abc", "b%d", "b_d"]) await account(id);
      const found = await directory.search({ text }, 10);
      assert.deepEqual(
        found.accounts.map(({ id }) => id),
        ids,
      );
      assert.equal(found.total, total);
    });
  }

  test(`account directory, ${name}: beyond the limit the total still counts`, async (t) => {
    const { directory, account } = await make(t);
    for (const id of ["a1", "a2", "a3"]) await account(id);
    const found = await directory.search({}, 2);
    assert.deepEqual([found.accounts.length, found.total], [2, 3]);
  });

  const narrowed = [
    ["a page begins where the one before ended", { skip: 2 }, ["c", "d"], 4],
    ["by plan", { tier: "starter" }, ["b"], 1],
    ["administrators", { state: "admin" }, ["c"], 1],
    ["who is switched off", { state: "disabled" }, ["d"], 1],
    ["who signed up, by a part of the address", { state: "signed_up", text: "a@" }, ["a"], 1],
  ] as const;
  for (const [what, sought, ids, total] of narrowed) {
    test(`account directory, ${name}: ${what}`, async (t) => {
      const { directory, account } = await make(t);
      await account("a", { origin: "signup" });
      await account("b", { tier: "starter" });
      await account("c", { isAdmin: true });
      await account("d", { isDisabled: true });
      const found = await directory.search(sought, 10);
      assert.deepEqual([found.accounts.map(({ id }) => id), found.total], [ids, total]);
    });
  }

  test(`account directory, ${name}: an erased account is gone, once, and others stay`, async (t) => {
    const { directory, account } = await make(t);
    for (const id of ["a1", "a2"]) await account(id);
    assert.equal(await directory.erase("a1"), true);
    assert.equal(await directory.erase("a1"), false);
    assert.deepEqual(
      (await directory.search({}, 10)).accounts.map(({ id }) => id),
      ["a2"],
    );
  });
}

import { strict as assert } from "node:assert";
import { test } from "node:test";
import { Accounts } from "../../accounts/accounts-store.ts";
import { Guesses } from "../../accounts/guesses.ts";
import { openEmbedded } from "../../store/database.ts";
import { NOW_MS, openShell } from "../../../test/process/account-shell.ts";

const ANN = "ann@gatepost.example";

test("limits are set one by one, shown, and taken back to the plan", async (t) => {
  const { run, json } = openShell(t);
  await run("account", "create", ANN);
  assert.deepEqual(await json("account", "limits", ANN), {});
  const set = await json("account", "limits", ANN, "--rate", "1000", "--daily", "none");
  assert.deepEqual(set, { rate_per_minute: 1_000, daily: null });
  const more = await json("account", "limits", ANN, "--bulk", "5");
  assert.deepEqual(more, { rate_per_minute: 1_000, daily: null, bulk_limit: 5 });
  const [listed] = (await json("account", "list")) as readonly { readonly limits: unknown }[];
  assert.deepEqual(listed?.limits, more);
  assert.equal((await run("account", "limits", ANN, "--rate", "0")).code, 2);
  assert.equal((await run("account", "limits", ANN, "--rate", "many")).code, 2);
  assert.equal((await run("account", "limits", ANN, "--plan", "--rate", "1")).code, 2);
  assert.equal((await run("account", "limits", ANN, "--plan")).out, "the plan's numbers\n");
});

test("an account is deleted, and is not there any more", async (t) => {
  const { run, json } = openShell(t);
  await run("account", "create", ANN);
  assert.equal((await run("account", "delete", "bob@gatepost.example")).code, 1);
  const { code, err } = await run("account", "delete", ANN);
  assert.equal(code, 2);
  assert.match(err, /Nothing was deleted: without a terminal, add --yes/);
  const { deleted } = (await json("account", "delete", ANN, "--yes")) as {
    readonly deleted: boolean;
  };
  assert.equal(deleted, true);
  assert.deepEqual(await json("account", "list"), []);
});

for (const words of [
  ["account", "delete", ANN],
  ["account", "promote", ANN],
]) {
  test(`${words.join(" ")} asks a person at a terminal, who may say no`, async (t) => {
    const asked: string[] = [];
    const { run, json } = openShell(t, "", {
      interactive: true,
      confirm: (question) => {
        asked.push(question);
        return Promise.resolve(false);
      },
    });
    await run("account", "create", ANN);
    assert.equal((await run(...words)).code, 1);
    assert.equal(asked.length, 1);
    const [known] = (await json("account", "list")) as readonly { readonly admin: boolean }[];
    assert.equal(known?.admin, false);
    assert.equal((await run(...words, "--yes")).code, 0);
  });
}

test("the operator ends the delay after wrong passwords", async (t) => {
  const { run, json, dataDir } = openShell(t);
  await run("account", "create", ANN);
  const { db, close } = await openEmbedded(dataDir, NOW_MS);
  t.after(close);
  const guesses = new Guesses(db);
  const id = (await new Accounts(db).find(ANN))?.id ?? "";
  for (const key of [id, `${id} 192.0.2.1`]) {
    for (let tries = 0; tries < 12; tries += 1) await guesses.take(key, NOW_MS);
    assert.equal((await guesses.take(key, NOW_MS)).isGranted, false);
  }
  assert.deepEqual(await json("account", "unlock", ANN), { account_id: id, unlocked: true });
  assert.equal((await guesses.take(id, NOW_MS)).isGranted, true);
  assert.equal((await guesses.take(`${id} 192.0.2.1`, NOW_MS)).isGranted, true);
});

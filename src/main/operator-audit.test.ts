import { strict as assert } from "node:assert";
import { test } from "node:test";
import { recordingTerminal } from "../../test/process/recording-terminal.ts";
import { openTestStore } from "../../test/process/test-process.ts";
import { AuditLog } from "../accounts/audit.ts";
import { program, runProgram } from "../cli/program.ts";
import { commandsFor } from "./commands.ts";
import { systemUser } from "./terminal.ts";
import { temporaryFolder } from "../../test/process/temporary-folder.ts";

test("what the command line changes is on record, without secrets and addresses", async (t) => {
  const dataDir = temporaryFolder();
  const before = process.env["GATEPOST_DATA_DIR"];
  process.env["GATEPOST_DATA_DIR"] = dataDir;
  t.after(() => {
    if (before === undefined) delete process.env["GATEPOST_DATA_DIR"];
    else process.env["GATEPOST_DATA_DIR"] = before;
  });
  const terminal = recordingTerminal();
  const run = async (...words: readonly string[]) =>
    runProgram(program("0", terminal, await commandsFor(words, terminal)), words, terminal);

  assert.equal(await run("account", "create", "ann@x.example", "--admin", "--json"), 0);
  const { account_id: id, api_key: key } = JSON.parse(terminal.written()) as Record<string, string>;
  assert.ok(id !== undefined && key !== undefined);
  assert.equal(await run("account", "create", "ann@x.example"), 1, "refused: no change");
  await run("account", "tier", id, "pro");
  await run("account", "credit", id, "50", "--reason", "Welcome");
  await run("account", "disable", id);
  await run("account", "enable", id);
  await run("key", "create", id, "--name", "second");
  await run("webhook", "set", id, "https://192.0.2.1/hook");
  await run("webhook", "remove", id);
  await run("lists", "deny", "jane@bad.example", "--expires", "2099-01-31");
  await run("lists", "forget", "jane@bad.example");
  await run("lists", "forget", "never.example");

  const store = await openTestStore(dataDir);
  t.after(() => store.close());
  const [firstKey] = await store.keys.list(id);
  await run("key", "revoke", firstKey?.id ?? "", "--yes");
  await run("key", "revoke", firstKey?.id ?? "", "--yes");
  const { rows: entries } = await new AuditLog(store.sql.db).page({ limit: 100 });
  assert.deepEqual(
    entries
      .map(({ action, detail }) => `${action} ${detail.replace(/[0-9a-f]{32}/, "<hash>")}`)
      .sort(),
    [
      "account.created pro, administrator",
      "account.disabled ",
      "account.enabled ",
      "account.tier pro to pro",
      "credits.granted 50, Welcome",
      "key.created first key",
      "key.created second",
      "key.revoked first key",
      "lists.entry_forgotten address:<hash>@bad.example",
      "lists.entry_saved deny address:<hash>@bad.example, until 2099-01-31",
    ],
  );
  for (const { actor_id, account_id, client_address, action } of entries) {
    assert.deepEqual([actor_id, client_address], [`operator:${systemUser()}`, "the command line"]);
    assert.equal(account_id, action.startsWith("lists.") ? "service" : id, action);
  }
  const whole = JSON.stringify(entries);
  assert.equal(whole.includes(key) || whole.includes("jane"), false);
});

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import pg from "pg";
import { systemFiles } from "../../../src/base/files.ts";
import { readListFile } from "../../../src/bulk/files/list-file.ts";
import { opening } from "../../../src/cli/command.ts";
import { mailboxCommand } from "../../../src/cli/commands/mailbox.ts";
import { program, runProgram } from "../../../src/cli/program.ts";
import { createFindMailbox } from "../../../src/gate/mailbox-ids.ts";
import { createAccountHash, mailboxKey } from "../../../src/gate/traffic-marks.ts";
import { recordingTerminal } from "../../process/recording-terminal.ts";
import { temporaryFolder } from "../../process/temporary-folder.ts";
import { postgresPrograms, startPostgres } from "../../services/postgres.ts";
import { guideBlocks } from "./guide-blocks.ts";

const FIXTURE = new URL("../../../../test/fixtures/mailbox-ids-0.2.0.json", import.meta.url);

const skip = postgresPrograms() === undefined && "PostgreSQL is not installed";

suite("docs/guides/one-mailbox.md with PostgreSQL", { skip }, () => {
  test("users are taken up, duplicates shown, and ids of 0.2.0 renamed", async (t) => {
    const server = await startPostgres();
    t.after(() => server.close());
    const url = await server.createDatabase();
    const cwd = temporaryFolder();
    const psql = (input: string): string =>
      execFileSync("psql", ["-X", "-v", "ON_ERROR_STOP=1", "-At", url], {
        cwd,
        input,
        encoding: "utf8",
      });
    const [column = "", takeUp = "", rename = "", trials = ""] = guideBlocks("one-mailbox", "sql");
    const { ids } = JSON.parse(readFileSync(FIXTURE, "utf8")) as { ids: Record<string, string> };
    const people = ["jo@icloud.com", "jo@me.com", "jo@outlook.com", "Jo.Doe@gmail.com", "no"];
    const rows = people.map((email) => `('${email}')`).join(",");
    psql(
      `create table users (id bigint generated always as identity, email text);${column}${trials}insert into users (email) values ${rows};`,
    );
    const [, export_ = ""] =
      /-c "(.*)"$/m.exec(guideBlocks("one-mailbox", "sh").join("\n")) ?? assert.fail("no export");
    psql(export_.replaceAll("\\\\", "\\"));
    const find = createFindMailbox(createAccountHash(mailboxKey(new Uint8Array(32).fill(7))));
    const opened = {
      accounts: { find: () => Promise.resolve({ id: "a1" } as never) },
      files: systemFiles,
      readPages: readListFile,
      findMailbox: find,
    };
    const terminal = recordingTerminal({});
    const root = program("1", terminal, [mailboxCommand(terminal, opening(opened))]);
    const line = ["--column", "email", "--out", join(cwd, "ids.csv")];
    const words = ["mailbox", "ids", "a1", join(cwd, "users.csv"), ...line];
    assert.equal(await runProgram(root, words, terminal), 0, terminal.complained());
    const shown = psql(takeUp);
    const same = find("a1", "jo@icloud.com").id ?? "";
    assert.match(shown, new RegExp(`${same}\\|\\{1,2\\}`));
    assert.equal(psql("select count(mailbox_id) from users"), "3\n");

    // Users whom 0.2.0 named; both of one mailbox have an id then.
    psql("update users set mailbox_id = null");
    for (const email of people.slice(0, 4))
      psql(`update users set mailbox_id = '${ids[email] ?? ""}' where email = '${email}'`);
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    for (const [at, email] of people.entries()) {
      const { id, former } = find("a1", email);
      await client.query(rename, [at + 1, id, former]);
    }
    await client.end();
    const now = psql("select mailbox_id from users order by id").split("\n");
    const want = people.map((email) => find("a1", email).id ?? "");
    assert.deepEqual(now.slice(0, 5), [want[0], ids["jo@me.com"], ...want.slice(2, 4), ""]);
  });
});

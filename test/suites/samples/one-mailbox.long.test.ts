import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { createGatepost, type Gatepost } from "../../../clients/typescript/src/index.ts";
import { DatabaseSync } from "@photostructure/sqlite";
import { createAccount, serviceWorld } from "../../e2e/service-world.ts";
import { guideBlocks } from "./guide-blocks.ts";
import { temporaryFolder } from "../../process/temporary-folder.ts";

suite("docs/guides/one-mailbox.md", () => {
  let key = "";
  const world = serviceWorld({
    begin({ home }) {
      key = createAccount(home, "you@example.com").api_key;
    },
  });

  test("the database refuses a second account of a mailbox, and takes sign-ups without an id", async () => {
    const [columns = ""] = guideBlocks("one-mailbox", "sql");
    const [sample = ""] = guideBlocks("one-mailbox", "js");
    const database = new DatabaseSync(":memory:");
    database.exec(`create table users (email text not null); ${columns}`);
    const add = database.prepare("insert into users (email, mailbox_id) values (?, ?)");
    const users = {
      insert: (row: { email: string; mailbox_id: string | null }) =>
        add.run(row.email, row.mailbox_id),
    };
    const folder = temporaryFolder();
    const file = join(folder, "sample.mjs");
    writeFileSync(file, `export const signUp = async (email, users, gatepost) => {${sample}};`);
    const { signUp } = (await import(file)) as {
      signUp: (email: string, known: typeof users, asked: Gatepost) => Promise<void>;
    };
    const gatepost = createGatepost({ url: world.service.url, key });
    const run = (email: string): Promise<string> =>
      signUp(email, users, gatepost).then(() => "added", String);
    assert.equal(await run("jo.smith@gmail.com"), "added");
    for (const email of ["josmith+shop@gmail.com", "JOSMITH@googlemail.com"]) {
      assert.match(await run(email), /UNIQUE constraint failed: users\.mailbox_id/);
    }
    assert.equal(await run("other@gmail.com"), "added");
    for (const email of ["a@good.example", "b@good.example"])
      users.insert({ email, mailbox_id: null });
    database.close();
  });
});

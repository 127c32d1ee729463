import { strict as assert } from "node:assert";
import { test, type TestContext } from "node:test";
import { listsWorld } from "../../../test/lists/lists-world.ts";
import { recordingTerminal } from "../../../test/process/recording-terminal.ts";
import type { FeedRefresh } from "../../lists/feed-refresher.ts";
import { program, runProgram } from "../program.ts";
import { listsCommand } from "./lists.ts";

const REFRESH: FeedRefresh = {
  status: () =>
    Promise.resolve([
      { id: "ded", curated: true, names: 7_000, from: "fetch", fetchedAtMs: 0, askedAtMs: 0 },
      {
        id: "castle",
        curated: true,
        names: 0,
        from: "nowhere",
        askedAtMs: 0,
        refusal: { why: "bad_status", detail: "404" },
      },
    ]),
  refresh: () =>
    Promise.resolve([
      { id: "ded", kind: "unchanged" },
      { id: "castle", kind: "refused", why: "bad_status", detail: "404" },
    ]),
};

const FILES = { off: "off shop.example\n" };

async function openShell(t: TestContext, files: Readonly<Record<string, string>> = FILES) {
  const world = await listsWorld(t);
  const { operator } = world;
  const run = async (...words: string[]) => {
    const readText = (path: string) => Promise.resolve(files[path] ?? "");
    const terminal = recordingTerminal({ readText });
    let closed = 0;
    const openLists = () =>
      Promise.resolve({
        operator,
        refresh: REFRESH,
        author: "ada",
        close: () => Promise.resolve(void (closed += 1)),
      });
    const root = program("1.2.3", terminal, [listsCommand(terminal, openLists)]);
    const code = await runProgram(root, ["lists", ...words], terminal);
    return { code, out: terminal.written(), err: terminal.complained(), closed };
  };
  return { ...world, run };
}

const codes = [
  ["a domain is denied", ["deny", "bad.example"], 0],
  ["a suffix is allowed", ["allow", "*.good.example", "--note", "ours"], 0],
  ["a mail host is denied", ["deny", "mx:mail.bad.example", "--expires", "2099-12-31"], 0],
  ["an invalid entry is bad usage", ["deny", "no domain"], 2],
  ["an invalid date is bad usage", ["deny", "a.example", "--expires", "soon"], 2],
  ["a date in the past is bad usage", ["deny", "a.example", "--expires", "2020-01-01"], 2],
  ["a note of two lines is bad usage", ["deny", "a.example", "--note", "a\nb"], 2],
  ["forgetting an unknown rule is a no", ["forget", "a.example"], 1],
  ["forgetting no entry is bad usage", ["forget", "a b"], 2],
  ["an unknown kind is bad usage", ["import", "f", "--kind", "odd"], 2],
  ["status is fine", ["status"], 0],
  ["a feed is switched off", ["off", "curated", "--note", "too many"], 0],
  ["an unknown feed is bad usage", ["off", "odd"], 2],
  ["what is not the id of a feed is bad usage", ["off", "no feed"], 2],
  ["a feed that is on cannot be switched on", ["on", "curated"], 1],
  ["a domain is not switched off", ["import", "off"], 2],
  ["a refresh with a refused source is a no", ["refresh"], 1],
  ["accepting an unknown list is bad usage", ["refresh", "--accept", "odd"], 2],
  ["accepting two lists asks every source", ["refresh", "--accept", "ded", "castle"], 1],
  ["an unknown command is bad usage", ["frobnicate"], 2],
] as const;

for (const [name, words, want] of codes) {
  test(`lists: ${name}`, async (t) => {
    const { run } = await openShell(t);
    const { code, err } = await run(...words);
    assert.deepEqual([code, code === 2 && err === ""], [want, false], err);
  });
}

test("lists: what is said last until the end of the day named, and JSON tells all of it", async (t) => {
  const { run } = await openShell(t);
  const { out, closed } = await run(
    "deny",
    "Bad.Example",
    "--note",
    "spam",
    "--expires",
    "2027-01-31",
    "--json",
  );
  assert.deepEqual(JSON.parse(out), {
    entry: "bad.example",
    kind: "deny",
    note: "spam",
    author: "ada",
    created_at: "2026-11-20T12:00:00.000Z",
    expires_at: "2027-02-01T00:00:00.000Z",
  });
  assert.equal(closed, 1);
  const text = (await run("deny", "worse.example", "--expires", "2027-01-31")).out;
  assert.equal(text, "deny worse.example until 2027-01-31\n");
});

test("lists: a feed is off until it is switched on again", async (t) => {
  const { run, operator } = await openShell(t);
  assert.deepEqual(JSON.parse((await run("off", "first", "--json")).out), {
    feed: "first",
    off: true,
  });
  const [rule] = await operator.entries();
  assert.deepEqual([rule?.subject, rule?.word], ["feed:first", "off"]);
  assert.equal((await run("on", "first")).out, "first is on\n");
  assert.deepEqual(await operator.entries(), []);
});

test("lists: export prints what import reads, filtered by kind", async (t) => {
  const { run } = await openShell(t, { traps: "trap.example\nold@shop.example\n" });
  await run("allow", "good.example");
  const imported = await run("import", "traps", "--kind", "recycled", "--json");
  assert.deepEqual(JSON.parse(imported.out), { imported: 2 });
  assert.equal((await run("export", "--kind", "allow")).out, "allow good.example\n");
  const lines = (await run("export", "--kind", "recycled")).out.split("\n");
  assert.match(lines[0] ?? "", /^recycled address:[0-9a-f]{32}@shop\.example$/);
  assert.equal(lines[1], "recycled trap.example");
});

test("lists: an import with wrong lines names them and exits 2", async (t) => {
  const { run, operator } = await openShell(t, { bad: "a.example\nb c\n" });
  const { code, out, err } = await run("import", "bad", "--kind", "deny");
  assert.deepEqual([code, out], [2, ""]);
  assert.match(err, /Line 2: Not a domain/);
  assert.deepEqual(await operator.entries(), []);
});

test("lists: status tells why an answer was not taken", async (t) => {
  const { run } = await openShell(t);
  assert.match((await run("status")).out, /castle .*Its server answered with an error \(404\)/);
  const json = JSON.parse((await run("status", "--json")).out) as unknown[];
  assert.deepEqual(json[1], {
    id: "castle",
    curated: true,
    names: 0,
    from: "nowhere",
    fetched_at: null,
    asked_at: "1970-01-01T00:00:00.000Z",
    off: false,
    refused: "bad_status",
    detail: "404",
  });
});

test("--version behind a command is the command's own", async (t) => {
  const { run } = await openShell(t);
  assert.deepEqual([(await run("status", "--version")).code, (await run("status")).code], [2, 0]);
});

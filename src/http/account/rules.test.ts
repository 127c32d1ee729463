import { strict as assert } from "node:assert";
import { type TestContext, test } from "node:test";
import { Browser } from "../../../test/dashboard/dashboard-client.ts";
import { dashboardWorld, PASSWORD } from "../../../test/dashboard/dashboard-world.ts";
import type { ImportedRules } from "./shapes.ts";

const ADMIN = "admin@gatepost.example";

async function asAdmin(t: TestContext) {
  const world = await dashboardWorld();
  t.after(() => world.close());
  const adminId = await world.addAccount(ADMIN, { isAdmin: true });
  const admin = new Browser(world);
  assert.equal((await admin.signIn(ADMIN, PASSWORD)).status, 204);
  return { world, admin, adminId };
}

interface ShownEntry {
  readonly entry: string;
  readonly kind: string;
  readonly note: string;
  readonly author: string;
  readonly expires_at: string | null;
}

async function entriesOf(admin: Browser, query = ""): Promise<readonly ShownEntry[]> {
  const { json } = await admin.get(`admin/lists/entries${query}`);
  return (json as { entries: ShownEntry[] }).entries;
}

/** What the audit log says of the lists, oldest first. */
async function notedOf(admin: Browser): Promise<readonly string[]> {
  const { entries } = (await admin.get("admin/audit")).json as {
    entries: { action: string; detail: string; actor: string; subject: string }[];
  };
  return entries
    .filter(({ action }) => action.startsWith("lists."))
    .map(({ action, detail, actor, subject }) => {
      assert.deepEqual([actor, subject], [ADMIN, "The service"]);
      return `${action} ${detail}`;
    })
    .sort();
}

test("feeds show why they were refused, and a refresh shows each outcome", async (t) => {
  const { world, admin } = await asAdmin(t);
  const { sources } = (await admin.get("admin/lists")).json as { sources: { id: string }[] };
  assert.deepEqual(
    sources.map(({ id }) => id),
    ["curated-one", "halved", "packed", "gone"],
  );
  assert.deepEqual(
    { ...sources[3], asked_at: "" },
    {
      id: "gone",
      curated: false,
      names: 0,
      from: "nowhere",
      fetched_at: null,
      asked_at: "",
      off: false,
      refused: "bad_status",
      detail: "404",
    },
  );
  world.lists.outcomes = [
    { id: "curated-one", kind: "accepted" },
    { id: "gone", kind: "refused", why: "bad_status", detail: "404" },
  ];
  assert.deepEqual((await admin.post("admin/lists/refresh")).json, {
    outcomes: [
      { id: "curated-one", kind: "accepted", why: null, detail: null },
      { id: "gone", kind: "refused", why: "bad_status", detail: "404" },
    ],
  });
  assert.deepEqual(await notedOf(admin), ["lists.fetched 2 asked, 1 refused"]);
});

test("a refresh takes the operator's word on lists that changed much, and notes it", async (t) => {
  const { world, admin } = await asAdmin(t);
  assert.equal((await admin.post("admin/lists/refresh", { accept: ["halved"] })).status, 200);
  assert.deepEqual(world.lists.accepted, ["halved"]);
  for (const accept of [["nowhere"], ["halved", "nowhere"], "halved", [1]]) {
    assert.equal((await admin.post("admin/lists/refresh", { accept })).status, 400);
  }
  assert.deepEqual(world.lists.accepted, ["halved"], "an unknown list stops the whole");
  assert.deepEqual(await notedOf(admin), ["lists.fetched 4 asked, 0 refused, halved confirmed"]);
});

test("an entry is saved with note, author and last day, found, and taken back", async (t) => {
  const { admin } = await asAdmin(t);
  const bad = { entry: "bad.example", kind: "deny", note: "Asked by sales", expires: "2099-01-31" };
  const saved = (await admin.post("admin/lists/entries", bad)).json as ShownEntry;
  assert.equal(saved.expires_at, "2099-02-01T00:00:00.000Z", "the last day counts whole");
  await admin.post("admin/lists/entries", { entry: "good.example", kind: "allow", note: "" });
  await admin.post("admin/lists/entries", { entry: "jane@x.example", kind: "deny", note: "" });
  const names = async (query: string) => (await entriesOf(admin, query)).map(({ entry }) => entry);
  assert.deepEqual(await names("?q=BAD"), ["bad.example"]);
  assert.deepEqual(await names("?q=by%20SALES"), ["bad.example"], "the note is searched too");
  assert.deepEqual(await names("?kind=allow"), ["good.example"]);
  assert.deepEqual(await names("?q=%25"), [], "a sign of the database's own stands for itself");
  const [hashed] = await names("?q=jane@x.example");
  assert.match(hashed ?? "", /^address:[0-9a-f]{32}@x\.example$/);
  assert.deepEqual([...new Set((await entriesOf(admin)).map(({ author }) => author))], [ADMIN]);
  assert.deepEqual((await admin.post("admin/lists/forget", { entry: "jane@x.example" })).json, {
    forgotten: 1,
  });
  assert.equal((await admin.post("admin/lists/forget", { entry: "jane@x.example" })).status, 404);
  const noted = await notedOf(admin);
  assert.deepEqual(
    noted,
    [
      `lists.entry_forgotten ${hashed ?? ""}`,
      `lists.entry_saved deny ${hashed ?? ""}`,
      "lists.entry_saved allow good.example",
      "lists.entry_saved deny bad.example, until 2099-01-31",
    ].sort(),
  );
});

const badEntries = [
  ["an unknown word", { entry: "a.example", kind: "forbid", note: "" }],
  ["an invalid entry", { entry: "a..b", kind: "deny", note: "" }],
  ["an entry that is not text", { entry: 7, kind: "deny", note: "" }],
  ["a trap that is a mail host", { entry: "mx:a.example", kind: "listed", note: "" }],
  ["a note of two lines", { entry: "a.example", kind: "deny", note: "a\nb" }],
  ["a note beyond its length", { entry: "a.example", kind: "deny", note: "a".repeat(501) }],
  [
    "a last day that is past",
    { entry: "a.example", kind: "deny", note: "", expires: "2020-01-01" },
  ],
  ["an invalid last day", { entry: "a.example", kind: "deny", note: "", expires: "2027-02-30" }],
] as const;

test("an impossible rule is refused with a reason and changes nothing", async (t) => {
  const { admin } = await asAdmin(t);
  for (const [name, body] of badEntries) {
    const { status, json } = await admin.post("admin/lists/entries", body);
    assert.equal(status, 400, name);
    assert.match((json as { error: string }).error, /\.$/, name);
  }
  assert.deepEqual(await entriesOf(admin), []);
  assert.deepEqual(await notedOf(admin), []);
});

test("a file is taken whole or not at all", async (t) => {
  const { admin } = await asAdmin(t);
  const wrong = await admin.post("admin/lists/import", {
    text: "a.example\nb..c",
    kind: "deny",
    note: "",
  });
  assert.equal(wrong.status, 400);
  assert.match((wrong.json as { error: string }).error, /^Line 2: Not a domain/);
  const wordless = await admin.post("admin/lists/import", { text: "a.example", note: "" });
  assert.match((wordless.json as { error: string }).error, /^Line 1: It does not say/);
  assert.deepEqual(await entriesOf(admin), []);
  const text = "allow good.example\ndeny *.zone.example # all of it\njane@x.example";
  const taken = await admin.post("admin/lists/import", {
    text,
    kind: "deny",
    note: "From the old system",
  });
  assert.equal((taken.json as ImportedRules).imported, 3);
  assert.equal((await entriesOf(admin)).length, 3);
  assert.deepEqual(await notedOf(admin), ["lists.imported 3 entries"]);
});

test("an import is taken back: what it said goes, what it replaced is told", async (t) => {
  const { admin } = await asAdmin(t);
  await admin.post("admin/lists/entries", { entry: "a.example", kind: "allow", note: "Sales" });
  const order = { text: "a.example\nb.example\nc.example", kind: "deny", note: "" };
  const taken = (await admin.post("admin/lists/import", order)).json as ImportedRules;
  assert.deepEqual(
    taken.replaced.map(({ entry, kind, note }) => [entry, kind, note]),
    [["a.example", "allow", "Sales"]],
  );
  await new Promise((resolve) => setTimeout(resolve, 2)); // said in another millisecond
  await admin.post("admin/lists/entries", { entry: "c.example", kind: "allow", note: "" });
  const { imported_ms } = taken;
  const back = await admin.post("admin/lists/take-back", { imported_ms });
  assert.deepEqual(back.json, { forgotten: 2 });
  assert.deepEqual(
    (await entriesOf(admin)).map(({ entry }) => entry),
    ["c.example"],
  );
  assert.equal((await admin.post("admin/lists/take-back", { imported_ms: "x" })).status, 400);
});

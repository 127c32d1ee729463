import { strict as assert } from "node:assert";
import { test } from "node:test";
import { hash, listsWorld } from "../../../test/lists/lists-world.ts";
import { DAY_MS } from "../../core/calendar.ts";
import { REPORT_DAYS, REPORTS_A_DAY } from "./reports.ts";

const BY_ADA = { note: "", author: "ada" };
const order = (entry: string, more: { wrong?: string; reason?: string } = {}) => ({
  entry,
  wrong: "disposable",
  reason: "",
  ...more,
});

test("of a reported address the domain is kept and the local part only as a hash", async (t) => {
  const { reports } = await listsWorld(t);
  await reports.report("a1", order("Ada+x@shop.example", { reason: "write to ada@shop.example!" }));
  const [kept] = await reports.open();
  assert.deepEqual(
    [kept?.domain, kept?.subject, kept?.reason],
    [
      "shop.example",
      `address:${hash("ada@shop.example")}@shop.example`,
      "write to ***@shop.example!",
    ],
  );
  assert.doesNotMatch(JSON.stringify(kept), /ada/i);
});

test("a malformed entry can be reported too, and keeps no local part", async (t) => {
  const { reports } = await listsWorld(t);
  const answer = await reports.report("a1", order("ada b@shop example", { wrong: "Format" }));
  assert.equal(answer.kind, "kept");
  const [kept] = await reports.open();
  assert.deepEqual(
    [kept?.domain, kept?.subject, kept?.wrong],
    ["shopexample", "shopexample", "format"],
  );
});

test("a reason that would drive a terminal is one plain line", async (t) => {
  const { reports } = await listsWorld(t);
  await reports.report("a1", order("a.example", { reason: "red\u001b[31m\r\nline\u202etwo" }));
  assert.equal((await reports.open())[0]?.reason, "red [31m line two");
});

test("unknown fields and endless reasons are refused", async (t) => {
  const { reports } = await listsWorld(t);
  assert.deepEqual(await reports.report("a1", order("a.example", { wrong: "colour" })), {
    kind: "bad_field",
  });
  const reason = "x".repeat(1_001);
  assert.deepEqual(await reports.report("a1", order("a.example", { reason })), {
    kind: "bad_reason",
  });
});

test("an account makes twenty reports a day, and twenty more after midnight", async (t) => {
  const { reports, clock } = await listsWorld(t);
  const made = async () => (await reports.report("a1", order("a.example"))).kind;
  for (let n = 0; n < REPORTS_A_DAY; n += 1) assert.equal(await made(), "kept");
  assert.equal(await made(), "too_many");
  clock.advance(DAY_MS / 2);
  assert.equal(await made(), "kept");
});

test("a report becomes an entry of the operator's lists", async (t) => {
  const { reports, operator } = await listsWorld(t);
  const kept = await reports.report("a1", order("Ada@shop.example"));
  const id = kept.kind === "kept" ? kept.id : "";
  const answer = await reports.resolve(id, "allow", { ...BY_ADA, note: "is right" });
  assert.equal(answer.kind, "resolved");
  const [entry] = await operator.entries();
  assert.deepEqual(
    [entry?.subject, entry?.word, entry?.note, entry?.author],
    [`address:${hash("ada@shop.example")}@shop.example`, "allow", "is right", "ada"],
  );
  assert.deepEqual(await reports.resolve(id, "deny", BY_ADA), { kind: "no_report" });
  assert.deepEqual(await reports.open(), []);
});

test("a report that cannot become an entry stays open and can be dismissed", async (t) => {
  const { reports, operator } = await listsWorld(t);
  const kept = await reports.report("a1", order("no domain"));
  const id = kept.kind === "kept" ? kept.id : "";
  assert.equal((await reports.resolve(id, "deny", BY_ADA)).kind, "bad_entry");
  assert.equal((await reports.open()).length, 1);
  assert.equal((await reports.resolve(id, "dismiss", BY_ADA)).kind, "resolved");
  assert.deepEqual([await reports.open(), await operator.entries()], [[], []]);
});

test("reports are gone after ninety days", async (t) => {
  const { reports, clock } = await listsWorld(t);
  await reports.report("a1", order("a.example"));
  clock.advance(REPORT_DAYS * DAY_MS);
  assert.equal(await reports.prune(), 0);
  clock.advance(1);
  assert.equal(await reports.prune(), 1);
});

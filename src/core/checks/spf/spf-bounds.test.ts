import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { anyCharacter } from "../../../../test/process/any-character.ts";
import { checkDeps, domainOf, fieldsIn } from "../../../../test/process/check-run.ts";
import { type Zone, zoneLookup } from "../../../../test/dns/zone-lookup.ts";
import { SHOWN_TEXT_MAX } from "../tag-list.ts";
import { expandTarget, isSpfText, parseSpf, spf } from "./spf.ts";

const D = "shop.example";

async function summary(zone: Zone, domain = D): Promise<string | undefined> {
  const fields = await fieldsIn(zone, domain, ["spf"]);
  return fields === "unavailable" ? "unavailable" : fields.email_auth?.spf;
}

test("a redirect loop is left at the first name seen before, and its records read once", async () => {
  const lookup = zoneLookup({
    [D]: { txt: ["v=spf1 redirect=b.example"] },
    "b.example": { txt: [`v=spf1 redirect=${D}`] },
  });
  const deps = { ...checkDeps(lookup), obtained: neverAsked, questionsLeft: neverAsked };
  await spf.run({ domain: domainOf(D), mail: { kind: "unknown" } }, deps);
  assert.deepEqual(lookup.asked, [`txt ${D}`, "txt b.example"]);
});

const neverAsked = (): never => assert.fail("SPF builds on no other check");

test("a target that expands beyond 253 octets loses labels on its left (RFC 7208 section 7.3)", () => {
  const domain = `${"a".repeat(60)}.${"b".repeat(60)}.${D}`;
  const target = expandTarget("%{d}.%{d}.example", { domain, senderDomain: domain });
  assert.equal(target, `${"b".repeat(60)}.${D}.${domain}.example`);
});

test("a target of more octets than a name has breaks the record, and is never expanded", async () => {
  const target = (octets: number): string =>
    `${"%{d}".repeat(octets / 4 - 1)}%{d4`.padEnd(octets - 1, "r") + "}";
  for (const octets of [256, 1_000, 65_000]) {
    assert.equal(parseSpf(`v=spf1 redirect=${target(octets)}`).ok, false);
    assert.equal(parseSpf(`v=spf1 include:${target(octets)} -all`).ok, false);
    assert.equal(expandTarget(target(octets), { domain: D, senderDomain: D }), undefined);
  }
  assert.equal(
    await summary({ [D]: { txt: [`v=spf1 redirect=${"%{d}".repeat(16_000)}`] } }),
    "none",
  );
  assert.equal(parseSpf(`v=spf1 redirect=${"%{d}".repeat(63)}`).ok, true);
});

test("a record of more than 5,000 terms is broken", () => {
  assert.equal(parseSpf(`v=spf1 ${"x=y ".repeat(4_999)}-all`).ok, true);
  assert.equal(parseSpf(`v=spf1 ${"x=y ".repeat(5_000)}-all`).ok, false);
});

test("spf_record is the domain's own text, not that of the target", async () => {
  const zone = {
    [D]: { txt: ["v=spf1 redirect=b.example"] },
    "b.example": { txt: ["v=spf1 -all"] },
  };
  assert.deepEqual(await fieldsIn(zone, D, ["spf"]), {
    email_auth: { spf: "hardfail", spf_record: "v=spf1 redirect=b.example" },
  });
});

test("of several records the same one is shown however DNS turns them around", async () => {
  for (const txt of [
    ["v=spf1 -all", "v=spf1 ~all"],
    ["v=spf1 ~all", "v=spf1 -all"],
  ]) {
    const fields = await fieldsIn({ [D]: { txt } }, D, ["spf"]);
    assert.deepEqual(fields, { email_auth: { spf: "none", spf_record: "v=spf1 -all" } });
  }
});

test("a record of 64 KB is checked whole and shown cut", async () => {
  const record = `v=spf1 ${"ip4:192.0.2.1 ".repeat(4_600)}-all`;
  const fields = await fieldsIn({ [D]: { txt: [record] } }, D, ["spf"]);
  assert.ok(fields !== "unavailable");
  assert.equal(fields.email_auth?.spf, "hardfail");
  assert.equal(fields.email_auth?.spf_record?.length, SHOWN_TEXT_MAX);
});

test("a thousand TXT records beside the real one do not hide it", async () => {
  const txt = Array.from({ length: 1_000 }, (_, index) => `verification=${index}`);
  assert.equal(await summary({ [D]: { txt: [...txt, "v=spf1 -all"] } }), "hardfail");
});

const anyRecord = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc
    .array(
      fc.constantFrom("a", "mx:", "%{d", "}", "/", "24", "all", "-", "=", " ", "redirect=", "é"),
    )
    .map((parts) => parts.join("")),
);

test("any text is read without a throw, and the same twice", () => {
  fc.assert(
    fc.property(anyRecord, (text) => {
      isSpfText(text);
      assert.deepEqual(parseSpf(`v=spf1 ${text}`), parseSpf(`v=spf1 ${text}`));
      const target = expandTarget(text, { domain: D, senderDomain: D });
      assert.ok(target === undefined || target.length <= 253);
    }),
  );
});

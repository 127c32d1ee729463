import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "node:test";
import { anyCharacter } from "../../../../test/process/any-character.ts";
import { checkIn, fieldsIn } from "../../../../test/process/check-run.ts";
import type { Zone } from "../../../../test/dns/zone-lookup.ts";
import { SHOWN_TEXT_MAX } from "../tag-list.ts";
import { type Dmarc, isDmarcText, isIgnored, parsePolicyRecord, walkNames } from "./dmarc.ts";
const D = "shop.example";

async function dmarcOf(zone: Zone, domain = D): Promise<Dmarc | "unavailable" | undefined> {
  const fields = await fieldsIn(zone, domain, ["dmarc"]);
  return fields === "unavailable" ? fields : fields.email_auth?.dmarc;
}

const RUA = "rua=mailto:d@shop.example";
const ABSENT: Dmarc = { policy: "none" };

test("the walk asks at most eight names, the domain and seven labels up (RFC 9989 section 4.10)", () => {
  assert.deepEqual(walkNames("a.mail.shop.example"), [
    "a.mail.shop.example",
    "mail.shop.example",
    "shop.example",
    "example",
  ]);
  const deep = walkNames("a.b.c.d.e.f.g.h.i.j.mail.shop.example");
  assert.equal(deep.length, 8);
  assert.equal(deep[1], "g.h.i.j.mail.shop.example");
  assert.equal(walkNames("a.b.c.d.e.f.shop.example").length, 8);
});

test("nothing published is the policy alone, and costs a question a label", async () => {
  const { fields, asked } = await checkIn({}, `a.b.${D}`, ["dmarc"]);
  assert.deepEqual(fields, { email_auth: { dmarc: ABSENT } });
  assert.equal(asked.length, 4);
});

test("all members in their order", async () => {
  const record = `v=DMARC1; p=none; sp=reject; pct=50; ${RUA}`;
  const got = await dmarcOf({ [`_dmarc.${D}`]: { txt: [record] } });
  assert.equal(
    JSON.stringify(got),
    JSON.stringify({
      policy: "none",
      record,
      subdomain_policy: "reject",
      pct: 50,
      rua: "mailto:d@shop.example",
    }),
  );
});

test("a hostile record is cut where it is shown", async () => {
  const record = `v=DMARC1; p=reject; rua=mailto:${"x".repeat(60_000)}@shop.example`;
  const got = await dmarcOf({ [`_dmarc.${D}`]: { txt: [record] } });
  assert.ok(typeof got === "object");
  assert.deepEqual(
    [got.policy, got.record?.length, got.rua?.length],
    ["reject", SHOWN_TEXT_MAX, SHOWN_TEXT_MAX],
  );
});

test("10,000 tags: only the first hundred are read", () => {
  const many = Array.from({ length: 10_000 }, (_, index) => `x${index}=1`).join(";");
  assert.equal(parsePolicyRecord(`v=DMARC1;${many};p=reject`).p, undefined);
  assert.equal(parsePolicyRecord(`v=DMARC1;p=reject;${many}`).p, "reject");
});

const anyRecord = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc
    .array(
      fc.constantFrom("v=DMARC1", ";", "p=", "reject", "sp=", "rua=mailto:a@b.c", ",", "=", " "),
    )
    .map((parts) => parts.join("")),
);

test("any text is read without a throw, and counts never leave their range", () => {
  fc.assert(
    fc.property(anyRecord, (text) => {
      isDmarcText(text);
      const record = parsePolicyRecord(text);
      isIgnored(record);
      assert.ok(record.pct >= 0 && record.pct <= 100);
    }),
  );
});

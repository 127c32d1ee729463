import assert from "node:assert/strict";
import { test } from "node:test";
import { FEATURES } from "../core/checks/registry.ts";
import { denialFields, featureNamed, readFeatures, sortFeatures } from "./features.ts";

const READ: readonly [name: string, texts: readonly string[], want: readonly string[]][] = [
  ["nothing asked", [], []],
  ["an empty text", [""], []],
  ["commas alone", [",,,"], []],
  ["names in the order asked", ["dmarc,spf"], ["dmarc", "spf"]],
  ["any case", ["SPF,Domain_Age"], ["spf", "domain_age"]],
  ["blanks around names", [" spf , dkim "], ["spf", "dkim"]],
  ["unknown names are passed over", ["spf,bogus,__proto__,constructor,all"], ["spf"]],
  ["the spam trap comes by itself and cannot be asked for", ["spam_trap"], []],
  ["duplicates count once", ["spf,SPF,dkim,spf"], ["spf", "dkim"]],
  ["several texts are one list", ["spf", "dkim", "spf"], ["spf", "dkim"]],
  ["what no plan offers is known", ["smtp,spf,catch_all"], ["smtp", "spf", "catch_all"]],
  ["another separator makes one unknown name", ["spf;dkim"], []],
];

for (const [name, texts, want] of READ) {
  test(`features asked: ${name}`, () => {
    assert.deepEqual(readFeatures(texts), want);
  });
}

test("every feature of the contract is known, and nothing else is", () => {
  for (const name of [...FEATURES, "smtp", "catch_all"]) assert.equal(featureNamed(name), name);
  assert.equal(featureNamed("toString"), undefined);
});

test("a hundred thousand names come to at most eight", () => {
  const text = "spf,dkim,x,smtp,".repeat(25_000);
  assert.deepEqual(readFeatures([text]), ["spf", "dkim", "smtp"]);
});

test("Pro is permitted all that is offered", () => {
  assert.deepEqual(sortFeatures(["catch_all", "dkim", "smtp", "spf"], { premium: true }), {
    permitted: ["dkim", "spf"],
    requiresUpgrade: [],
    unsupported: ["catch_all", "smtp"],
  });
});

test("lower tiers learn what needs an upgrade, in the order asked", () => {
  assert.deepEqual(sortFeatures(["smtp", "dkim", "spf"], { premium: false }), {
    permitted: [],
    requiresUpgrade: ["dkim", "spf"],
    unsupported: ["smtp"],
  });
});

test("denial fields stand in the contract's order", () => {
  const sorted = sortFeatures(["spf", "smtp"], { premium: false });
  assert.equal(
    JSON.stringify(denialFields(sorted, ["dmarc"], "https://gatepost.example/")),
    JSON.stringify({
      requires_upgrade: ["spf"],
      upgrade_url: "https://gatepost.example/pricing",
      upgrade_message: "spf is included in the Pro plan. Upgrade to use premium checks.",
      unsupported_features: ["smtp"],
      temporarily_unavailable_features: ["dmarc"],
    }),
  );
});

test("the message speaks of several names too", () => {
  const sorted = sortFeatures(["spf", "dkim"], { premium: false });
  const { upgrade_message } = denialFields(sorted, [], "https://gatepost.example");
  assert.equal(
    upgrade_message,
    "spf, dkim are included in the Pro plan. Upgrade to use premium checks.",
  );
});

test("with nothing denied there is no field", () => {
  const sorted = sortFeatures(["spf"], { premium: true });
  assert.deepEqual(denialFields(sorted, [], "https://gatepost.example"), {});
});

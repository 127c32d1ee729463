import { strict as assert } from "node:assert";
import { test } from "node:test";
import { type LiteralKnowledge, literalDatasets } from "../../../test/lists/literal-datasets.ts";
import { zoneLookup } from "../../../test/dns/zone-lookup.ts";
import { DAY_MS } from "../calendar.ts";
import type { Datasets } from "../evidence/datasets.ts";
import { explain } from "./explain.ts";
import { validate } from "./validate.ts";

const zone = {
  "bad.example": { mx: ["1 mx.bad.example"] },
  "guest.example": { mx: ["1 mx.bad.example"] },
  "mx.bad.example": { a: ["198.51.100.1"] },
};

async function explained(text: string, known: LiteralKnowledge, more: Partial<Datasets> = {}) {
  const datasets: Datasets = { ...literalDatasets(known), ...more };
  const lookup = zoneLookup(zone);
  const asked = { features: [], spamTrap: false };
  const question = { text, mode: "either", asked, nowMs: 0, implicitMx: false } as const;
  const validation = await validate(question, { datasets, lookup, within: () => lookup });
  return explain(validation, datasets);
}

test("a listed name names its lists, since when, and their fetch", async () => {
  const known = { curated: ["bad.example"], first: ["bad.example"] };
  const sources = [
    { id: "hand", kind: "curated" as const, fetchedAtMs: 9 * DAY_MS },
    { id: "first", kind: "uncurated" as const },
    { id: "second", kind: "uncurated" as const },
  ];
  const history = {
    sinceMs: (name: string, bit: number) =>
      name === "bad.example" && bit === 0 ? 2 * DAY_MS : undefined,
  };
  const [exact] = await explained("a@bad.example", known, { sources, history });
  assert.equal(exact?.signal, "blacklist_exact");
  assert.equal(exact?.by, "lists");
  assert.deepEqual(exact?.lists, [
    {
      id: "hand",
      curated: true,
      since: "1970-01-03T00:00:00.000Z",
      fetched_at: "1970-01-10T00:00:00.000Z",
    },
    { id: "first", curated: false, since: null, fetched_at: null },
  ]);
});

const bys = [
  [
    "the operator's denied domain",
    "bad.example",
    { domains: { "bad.example": "deny" } },
    "operator",
  ],
  [
    "the operator's allowed domain",
    "bad.example",
    { domains: { "bad.example": "allow" } },
    "operator",
  ],
  [
    "a mail host of the operator's",
    "bad.example",
    { mailHosts: { "mx.bad.example": "deny" } },
    "operator",
  ],
  [
    "the operator's denied domain above a mail host",
    "guest.example",
    { domains: { "bad.example": "deny" } },
    "operator",
  ],
  [
    "a learned mail host",
    "bad.example",
    { mailServers: { "mx.bad.example": "dedicated" } },
    "learned",
  ],
  [
    "a known account",
    "ada@bad.example",
    { addresses: { "ada@bad.example": "account" } },
    "operator",
  ],
  ["a word in the name", "tempmail.example", {}, "rules"],
  ["DNS", "none.example", {}, "dns"],
] as const;

for (const [name, text, known, want] of bys) {
  test(`who says so: ${name}`, async () => {
    const [first] = await explained(text, known);
    assert.equal(first?.by, want);
    assert.deepEqual(first?.lists, []);
  });
}

test("a mail host's lists are those of the registrable domain above it", async () => {
  const asked: string[] = [];
  const history = { sinceMs: (name: string) => void asked.push(name) };
  const known = { curated: ["bad.example"], domains: {} };
  const pieces = await explained("shop.example", known, { history });
  assert.deepEqual([pieces.length > 0, asked], [true, []]);
  const datasets = { ...literalDatasets(known), history };
  const evidence = [
    { signal: "blacklist_mx", weight: 0.95, subject: "mx.bad.example", sources: 1 },
  ] as const;
  explain({ evidence }, datasets);
  assert.deepEqual(asked, ["bad.example"]);
});

import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import fc from "fast-check";
import {
  domainEvidence,
  excuse,
  type DomainVerdict,
  weigh,
} from "../core/evidence/domain-evidence.ts";
import { parseDomain } from "../core/name/domain.ts";
import { LARGE_PROVIDERS, RELAYS } from "../core/tables/data.ts";
import { readDocument, tableUnder } from "../../test/guards/docs-tables.ts";
import { loadLists, NEVER_DISPOSABLE, readPackagedLists } from "./load-lists.ts";
import { rulesOf } from "../core/evidence/rule.ts";
import { attachDatasets, type ListContents, noRules, shareDatasets } from "./shared-datasets.ts";
import { namesOfPackage } from "./packages.ts";

const datasets = attachDatasets(loadLists().shared, noRules);

/** The verdict on a domain of which DNS says nothing. */
function verdictOn(text: string, known = datasets): DomainVerdict {
  const parsed = parseDomain(text);
  assert.ok(parsed.ok, `${text} is a domain`);
  const pieces = domainEvidence(parsed.value, { kind: "unknown" }, known);
  return weigh(known.knownGood.has(parsed.value.name) ? excuse(pieces) : pieces);
}

test("bundled lists: every curated name is disposable with certainty, but the stated exceptions", () => {
  const curated = new Set([...namesOfPackage("fakefilter"), ...namesOfPackage("ded")]);
  const relays = new Set(RELAYS.flatMap(({ domains }) => domains));
  const missed = [...curated].filter((name) => verdictOn(name).confidence !== 100);
  assert.deepEqual(
    missed.filter((name) => !relays.has(name)).sort(),
    [...NEVER_DISPOSABLE].filter((name) => curated.has(name)).sort(),
  );
});

test("docs/measurements.md says what the lists and the rules find on the bundled names", () => {
  const nothing = { sourcesOf: () => 0 };
  const rules = { ...datasets, disposable: nothing, families: nothing };
  const curated = new Set([...namesOfPackage("fakefilter"), ...namesOfPackage("ded")]);
  const free = namesOfPackage("freemail").filter(
    (name) => !curated.has(name) && parseDomain(name).ok,
  );
  const rows = [curated, LARGE_PROVIDERS, free].map((names) => {
    const found = (known: typeof datasets) =>
      [...names].filter((name) => verdictOn(name, known).confidence >= 50).length;
    return [[...names].length, found(datasets), found(rules)].map((each) =>
      each.toLocaleString("en-US"),
    );
  });
  const page = tableUnder(readDocument("docs/measurements.md"), "## Detection").slice(0, 3);
  assert.deepEqual(
    page.map((cells) => cells.slice(1)),
    rows,
  );
});

test("bundled lists: the curated lists below mailinator and yopmail reach their sub-domains", () => {
  for (const name of ["mailinator.com", "yopmail.com", "guerrillamail.com", "sharklasers.com"]) {
    assert.equal(verdictOn(name).confidence, 100);
    assert.ok(verdictOn(`x.y.${name}`).confidence >= 95);
  }
});

test("bundled lists: no large provider, exception or relay is disposable", () => {
  const relays = RELAYS.flatMap(({ domains }) => domains);
  const known = [...LARGE_PROVIDERS, ...NEVER_DISPOSABLE, ...relays];
  for (const name of known.filter((text) => parseDomain(text).ok)) {
    assert.equal(verdictOn(name).confidence, 0, name);
  }
});

test("bundled lists: large providers are known good", () => {
  for (const name of LARGE_PROVIDERS) assert.ok(datasets.knownGood.has(name), name);
});

const CANARIES =
  "gmail.com outlook.com hotmail.com yahoo.com icloud.com proton.me gmx.de web.de qq.com 163.com mail.ru " +
  "yandex.ru orange.fr comcast.net tuta.com posteo.de hey.com fastmail.com zoho.com mailbox.org naver.com " +
  "seznam.cz wp.pl libero.it laposte.net t-online.de rediffmail.com uol.com.br keemail.me riseup.net " +
  "disroot.org github.com debian.org wikipedia.org harvard.edu ox.ac.uk bund.de europa.eu duckdns.org.uk";

for (const name of CANARIES.split(" ")) {
  test(`bundled lists: ${name} is not disposable`, () => {
    assert.equal(verdictOn(name).disposable, false);
  });
}

const FREE = "gmail.com proton.me pm.me tuta.com posteo.de hey.com yahoo.co.uk mail.ru web.de";

test("bundled lists: free providers are free, organisations and throw-away services are not", () => {
  for (const name of FREE.split(" ")) assert.ok(datasets.free.has(name), name);
  for (const name of ["debian.org", "mailinator.com", "404: not found", "housefancom"]) {
    assert.equal(datasets.free.has(name), false, name);
  }
});

test("bundled lists: a free list's throw-away names earn no trust", () => {
  const distrusted = [
    "stop-my-spam.pp.ua", // on a curated list
    "gspam.mooo.com", // below a listed name
    "tempmail.sytes.net", // by its own name
  ];
  const free = new Set(namesOfPackage("freemail"));
  for (const name of distrusted) {
    assert.ok(free.has(name), name);
    assert.equal(datasets.free.has(name) || datasets.knownGood.has(name), false, name);
  }
});

test("bundled lists: known good excuses what uncurated lists say", () => {
  const parsed = parseDomain("hongkong.com");
  assert.ok(parsed.ok);
  const pieces = domainEvidence(parsed.value, { kind: "unknown" }, datasets);
  assert.deepEqual(
    pieces.map(({ signal }) => signal),
    ["blacklist_single"],
  );
  assert.equal(verdictOn("hongkong.com").disposable, false);
});

test("bundled lists: U-labels are found by their A-labels", () => {
  assert.equal(verdictOn("gmaıl.net").evidence[0]?.signal, "blacklist_single");
});

test("bundled lists: roles are whole words of a mailbox's work", () => {
  for (const role of [
    "info",
    "sales",
    "postmaster",
    "no-reply",
    "hr",
    "it",
    "pr",
    "qa",
    "hq",
    "bounce",
    "dpo",
    "rechnung",
    "datenschutz",
    "accueil",
    "facturation",
    "verkoop",
    "vendite",
    "sprzedaz",
    "destek",
    "rrhh",
    "segreteria",
    "contabilidade",
    "faktury",
    "kundtjanst",
    "postmottak",
    "asiakaspalvelu",
    "ugyfelszolgalat",
    "vanzari",
    "podatelna",
  ]) {
    assert.ok(datasets.roles.has(role), role);
  }
  for (const name of ["aaa", "joe", "user", "pastor", "chef", "tech", "editor", "paris", "ed"]) {
    assert.equal(datasets.roles.has(name), false, name);
  }
});

test("bundled lists: no evidence throws or is out of bounds, for 20,000 names of each run", () => {
  const word = fc.constantFrom(
    ..."gmail temp mail box spam 10min xn--a-b mailinator a 1 us to".split(" "),
  );
  const label = fc.oneof(
    fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join("")),
    fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?$/),
    fc.string({ maxLength: 5, unit: "grapheme" }),
  );
  const suffix = fc.constantFrom("com", "co.uk", "duckdns.org", "dpdns.org", "edu.pl", "ru", "zz");
  const host = fc.tuple(fc.array(label, { minLength: 1, maxLength: 6 }), suffix);
  const text = host.map(([labels, end]) => [...labels, end].join("."));
  let assessed = 0;
  fc.assert(
    fc.property(text, fc.array(text, { maxLength: 3 }), (name, hosts) => {
      const parsed = parseDomain(name);
      if (!parsed.ok) return;
      assessed += 1;
      const mail =
        hosts.length === 0
          ? ({ kind: "unknown" } as const)
          : ({ kind: "hosts", hosts, implicit: false } as const);
      const { confidence } = weigh(domainEvidence(parsed.value, mail, datasets));
      assert.ok(confidence >= 0 && confidence <= 100);
    }),
    { numRuns: 20_000 },
  );
  assert.ok(assessed > 6_000, `only ${String(assessed)} were domains`);
});

const LITTLE: ListContents = {
  version: 7,
  disposable: [
    { id: "hand", kind: "curated", read: () => ["Thrown.Example", "not a name", "bücher.example"] },
    { id: "crowd", kind: "uncurated", read: () => ["thrown.example", "spared.example"] },
  ],
  exceptions: new Set(["spared.example"]),
  free: ["free.example", "thrown.example"],
  knownGood: ["good.example"],
  roles: ["info"],
  mailServers: [
    ["mx.bad.example", "dedicated"],
    ["mx.so-so.example", "shared"],
  ],
};

test("shared datasets: names in any spelling, exceptions out, every question answered", () => {
  const known = attachDatasets(shareDatasets(LITTLE), noRules);
  assert.equal(known.version, 7);
  assert.deepEqual(known.sources, [
    { id: "hand", kind: "curated" },
    { id: "crowd", kind: "uncurated" },
  ]);
  assert.equal(known.disposable.sourcesOf("thrown.example"), 3);
  assert.equal(known.disposable.sourcesOf("xn--bcher-kva.example"), 1);
  assert.equal(known.disposable.sourcesOf("spared.example"), 0);
  assert.deepEqual(
    [
      known.free.has("free.example"),
      known.free.has("thrown.example"),
      known.knownGood.has("free.example"),
    ],
    [true, false, true],
  );
  assert.equal(known.knownGood.has("good.example"), true);
  assert.equal(known.mailServers.kindOf("mx.bad.example"), "dedicated");
  assert.equal(known.mailServers.kindOf("mx.so-so.example"), "shared");
  assert.equal(known.mailServers.kindOf("mx.example"), undefined);
});

test("shared datasets: a family counts names of the feeds that are on", () => {
  const list = (id: string, names: readonly string[]) => ({
    id,
    kind: "curated" as const,
    read: () => names,
  });
  const shared = shareDatasets({
    ...LITTLE,
    disposable: [
      list("one", ["a.mixed.example", "b.mixed.example", "a.own.example", "b.own.example"]),
      list("two", ["c.mixed.example", "d.other.example"]),
      list("three", ["c.own.example", "a.own.example"]),
    ],
  });
  const families = (off: string) => {
    const rules = rulesOf([{ subject: `feed:${off}`, word: "off" }], (text) => text);
    const { families: table } = attachDatasets(shared, rules);
    return ["mixed.example", "own.example", "other.example"].map((name) => table.sourcesOf(name));
  };
  assert.deepEqual(families("none"), [3, 5, 0]);
  assert.deepEqual(families("two"), [0, 5, 0]);
  assert.deepEqual(families("three"), [3, 0, 0]);
});

test("shared datasets: more lists than bits are a fault", () => {
  const disposable = Array.from({ length: 17 }, (_, index) => ({
    id: `list${String(index)}`,
    kind: "uncurated" as const,
    read: () => [],
  }));
  assert.throws(() => shareDatasets({ ...LITTLE, disposable }), /more than 16 lists/);
});

test("shared datasets: a thread attaches to the same buffers without a copy", async () => {
  const shared = shareDatasets(LITTLE);
  const at = (file: string) => new URL(file, import.meta.url).href;
  const source = `
    const { parentPort, workerData } = require("node:worker_threads");
    Promise.all([import(workerData.datasets), import(workerData.operator)]).then(([lists, { noRules }]) => {
      const known = lists.attachDatasets(workerData.shared, noRules);
      parentPort.postMessage({
        bits: known.disposable.sourcesOf("thrown.example"),
        free: known.free.has("free.example"),
        shared: workerData.shared.disposable instanceof SharedArrayBuffer,
      });
    });`;
  const workerData = {
    shared,
    datasets: at("./shared-datasets.js"),
    operator: at("./shared-datasets.js"),
  };
  const worker = new Worker(source, { eval: true, workerData });
  try {
    const [answer] = (await once(worker, "message")) as [unknown];
    assert.deepEqual(answer, { bits: 3, free: true, shared: true });
  } finally {
    await worker.terminate();
  }
});

test("bundled lists: the packed tables stay under 6.5 MB", () => {
  const { version, sources, history, ...tables } = shareDatasets(readPackagedLists());
  assert.deepEqual([version, sources.length, history.length], [1, 5, 5]);
  const bytes = Object.values(tables).reduce((sum, buffer) => sum + buffer.byteLength, 0);
  assert.ok(bytes < 6_500_000, `${String(bytes)} bytes`);
});

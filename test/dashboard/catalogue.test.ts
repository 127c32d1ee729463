import { strict as assert } from "node:assert";
import { test } from "node:test";
import { parse } from "yaml";
import { SIGNALS } from "../../src/core/evidence/signals.ts";
import { FAULT_WORDS } from "../../src/core/validate/fault-words.ts";
import {
  builtOf,
  catalogueOf,
  keyOf,
  type Row,
} from "../../src/dashboard/words/catalogue/catalogue.ts";
import type { OutboundFault } from "../../src/ports/process/outbound.ts";
import { outcomeOf } from "../../src/service/webhooks/outcome-words.ts";
import { dashboardSentences, sentencesIn, tableText, withImports } from "./sentences.ts";

const rowsOf = (name: string): readonly Row[] => parse(tableText(name)) as readonly Row[];
const [FIRST, CHECK, REST] = [rowsOf("first"), rowsOf("check"), rowsOf("rest")];
const SERVER = rowsOf("server");
const PROGRAM = [...FIRST, ...CHECK, ...REST];
const SOURCES = dashboardSentences();
const LANGUAGES = ["de", "es", "fr"] as const;

/** Sentences of the core that pages show: in the examples of the front door, and in answers only. */
const IN_EXAMPLES = Object.values(SIGNALS).map(({ short }) => short);
const IN_ANSWERS = Object.values(FAULT_WORDS);
const IN_GUIDE = Object.values(SIGNALS).map(({ means }) => means);

const slots = (text: string): string => (text.match(/\{\w+\}/g) ?? []).sort().join(" ");

test("every sentence has a text with the same slots in every language", () => {
  const all = [...PROGRAM, ...SERVER];
  assert.ok(all.length > 900);
  for (const row of all) {
    for (const language of LANGUAGES) {
      assert.ok((row[language] ?? "") !== "", `${language}: ${row.en}`);
      assert.equal(slots(row[language]), slots(row.en), `${language}: ${row.en}`);
    }
  }
});

test("one spelling of a word: email", () => {
  const all = [...PROGRAM, ...SERVER].map(({ en }) => en);
  assert.deepEqual(
    all.filter((text) => /e-mail/i.test(text)),
    [],
  );
});

test("no two sentences share a key", () => {
  const all = [...PROGRAM, ...SERVER].map(({ en }) => en);
  assert.equal(new Set(all.map(keyOf)).size, new Set(all).size);
  for (const table of [PROGRAM, SERVER]) {
    const texts = table.map(({ en }) => en);
    const twice = texts.filter((text, at) => texts.indexOf(text) !== at);
    assert.deepEqual(twice, []);
  }
});

test("the catalogue holds every sentence of the program", () => {
  const known = new Set(PROGRAM.map(({ en }) => en));
  const missing = [...SOURCES].flatMap(([file, { keys }]) =>
    keys.filter((text) => !known.has(text)).map((text) => `${file}: ${text}`),
  );
  assert.deepEqual([...new Set(missing)], []);
  assert.deepEqual(
    [...IN_EXAMPLES, ...IN_ANSWERS, ...IN_GUIDE].filter((text) => !known.has(text)),
    [],
  );
});

test("no page has text outside of the catalogue", () => {
  const loose = [...SOURCES].flatMap(([file, { loose: found }]) =>
    found.map((text) => `${file}: ${text}`),
  );
  assert.deepEqual(loose, []);
});

/** What runs before the front door is shown, but for an answer: it is shown once the words of a check are there. */
const FRONT = withImports(
  SOURCES,
  ["main.tsx", "pages/front/front.tsx"],
  ["pages/check/verdict-sheet.tsx"],
);
const ANSWER = withImports(SOURCES, ["pages/check/check.tsx", "pages/check/details.tsx"]);
const PARTS = [
  { name: "first", table: FIRST, files: FRONT, always: IN_EXAMPLES },
  { name: "check", table: CHECK, files: ANSWER, always: IN_ANSWERS },
];

for (const [at, { name, table, files, always }] of PARTS.entries()) {
  test(`the table "${name}" holds what its files need, and nothing else`, () => {
    assert.ok(files.size > 10 && !files.has("pages/guide.tsx"));
    const before = new Set(PARTS.slice(0, at).flatMap((part) => part.table.map(({ en }) => en)));
    const needed = new Set([...files].flatMap((file) => SOURCES.get(file)?.literals ?? []));
    for (const text of always) needed.add(text);
    const held = new Set(table.map(({ en }) => en));
    const keys = [...files].flatMap((file) => SOURCES.get(file)?.keys ?? []);
    assert.deepEqual(
      keys.filter((text) => !held.has(text) && !before.has(text)),
      [],
    );
    assert.deepEqual(
      [...held].filter((text) => !needed.has(text) || before.has(text)),
      [],
    );
  });
}

test("the catalogue holds no sentence that the program dropped", () => {
  const said = new Set([...SOURCES.values()].flatMap(({ literals }) => literals));
  for (const text of [...IN_EXAMPLES, ...IN_ANSWERS, ...IN_GUIDE]) said.add(text);
  assert.deepEqual(
    PROGRAM.filter(({ en }) => !said.has(en)).map(({ en }) => en),
    [],
  );
});

const planted = [
  ["text between tags", "<p>Not here</p>", { loose: ["Not here"] }],
  ["an attribute", '<Field label="Your name" />', { keys: ["Your name"] }],
  ["a template", "const a = `${n} of them failed`;", { loose: [" of them failed"] }],
  ["one small word for t", 'const a = t("never");', { keys: ["never"] }],
  ["both numbers", 'counted(n, "{n} day", "{n} days")', { keys: ["{n} day", "{n} days"] }],
  ["a heading in a table", 'const A = { name: "Keys" };', { keys: ["Keys"] }],
  ["a class is no sentence", '<p class="sheet stack close" />', {}],
  ["code is no sentence", "<code>dns_indeterminate</code>", {}],
] as const;

for (const [name, source, want] of planted) {
  test(`sentences are found: ${name}`, () => {
    const { keys, loose } = sentencesIn("pages/x.tsx", source);
    assert.deepEqual({ keys, loose }, { keys: [], loose: [], ...want });
  });
}

test("a sentence that the server filled is told in the reader's language", () => {
  const { words, patterns } = catalogueOf(builtOf(SERVER, "de", true));
  assert.equal(words.get(keyOf("Session not found or expired.")), rowDe("Session not found"));
  const text = "Too many attempts. Try again in 30 seconds.";
  const [pattern] = patterns.find(([english]) => english.test(text)) ?? [];
  assert.equal(pattern?.exec(text)?.groups?.["n"], "30");
});

const FAULTS: Readonly<Record<OutboundFault, true>> = {
  bad_url: true,
  unresolved: true,
  no_address: true,
  not_public: true,
  unreachable: true,
  tls: true,
  timeout: true,
  broken: true,
  malformed: true,
  redirect: true,
};

test("why a delivery failed is told in the reader's language", () => {
  const { words, patterns } = catalogueOf(builtOf(SERVER, "de", true));
  const isKnown = (text: string): boolean =>
    words.has(keyOf(text)) || patterns.some(([english]) => english.test(text));
  const failed = Object.keys(FAULTS).map(
    (fault) => ({ ok: false, fault: fault as OutboundFault }) as const,
  );
  const answered = [301, 500].map(
    (status) =>
      ({ ok: true, value: { status, headers: {}, body: new Uint8Array(), cut: false } }) as const,
  );
  const said = [...failed, ...answered].map((result) => outcomeOf(result, 1).error ?? "none");
  assert.deepEqual(
    said.filter((text) => !isKnown(text)),
    [],
  );
});

const rowDe = (begin: string): string | undefined =>
  SERVER.find(({ en }) => en.startsWith(begin))?.de;

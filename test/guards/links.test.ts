import { strict as assert } from "node:assert";
import { existsSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { readDocument, sourcePaths, tableUnder } from "./docs-tables.ts";

const root = new URL("../../../", import.meta.url);

/** Every Markdown page of the project: those of the root and all below docs/. */
const PAGES = [
  ...readdirSync(root).filter((name) => name.endsWith(".md")),
  ...readdirSync(new URL("docs/", root), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];

/** The anchor that a heading gets: lower case, without punctuation, hyphens for blanks. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .trim()
    .replaceAll(" ", "-");
}

function anchorsOf(page: string): readonly string[] {
  const text = readDocument(page);
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map((match) => anchorOf(match[1] ?? ""));
  return [...headings, ...[...text.matchAll(/<a id="(\w+)">/g)].map((match) => match[1] ?? "")];
}

/** Why `target`, as `page` links to it, leads nowhere; `undefined` when it leads somewhere. */
function faultOf(page: string, target: string): string | undefined {
  const [path = "", anchor] = target.split("#", 2);
  const url = path === "" ? new URL(page, root) : new URL(path, new URL(page, root));
  if (!existsSync(url)) return `${page} -> ${target}: no such file`;
  if (anchor === undefined) return undefined;
  const linked = url.pathname.slice(root.pathname.length);
  return anchorsOf(linked).includes(anchor) ? undefined : `${page} -> ${target}: no such heading`;
}

test("every link between Markdown pages leads to a file and a heading that exist", () => {
  const faults = PAGES.flatMap((page) =>
    [...readDocument(page).matchAll(/\]\((?!https?:|mailto:)([^)]+)\)/g)].flatMap(
      (match) => faultOf(page, match[1] ?? "") ?? [],
    ),
  );
  assert.deepEqual(faults, []);
});

const FLOORS = readdirSync(new URL("src/", root)).join("|");
const NAMED = new RegExp(
  `\`((?:src|test|bench|docs|scripts|deploy|tables|feeds|clients|packages|\\.ci|${FLOORS})/[\\w./-]+)\``,
  "g",
);

/** A path as pages write it: from the root, or from src/ when it begins with a floor. */
function isThere(path: string): boolean {
  return existsSync(new URL(path, root)) || existsSync(new URL(`src/${path}`, root));
}

test("every file or folder that a Markdown page names exists", () => {
  const missing = PAGES.flatMap((page) =>
    [...readDocument(page).matchAll(NAMED)]
      .map((match) => match[1] ?? "")
      .filter((path) => !isThere(path))
      .map((path) => `${page}: ${path}`),
  );
  assert.deepEqual(missing, []);
});

test("every test, bench or document that a comment of the program names exists", () => {
  const missing = sourcePaths()
    .filter((name) => /\.tsx?$/.test(name))
    .flatMap((name) =>
      [...readDocument(name).matchAll(/(?:test|bench|docs)\/[\w./-]+\.(?:ts|md)\b/g)]
        .filter(([path]) => !existsSync(new URL(path, root)))
        .map(([path]) => `${name}: ${path}`),
    );
  assert.deepEqual(missing, []);
});

/** Words that people type; one row of the questions must have all of them. */
const TYPED = [
  "stop typos",
  "listen LAN",
  "change port",
  "block a domain",
  "allow domain",
  "import blocklist",
  "update lists",
  "plus addresses",
  "business mail",
  "role info@",
  "one account per person",
  "Gmail dots",
  "free trial",
  "raise limit",
  "limit without a key",
  "mailbox exists",
  "catch-all",
  "smarthost",
  "port 25",
  "CORS browser",
  "IDN",
  "same after success",
  "429",
  "docker",
  "kubernetes",
  "cloudflare",
  "memory",
  "multi-core",
  "high availability",
  "arm64",
  "alpine",
  "musl",
  "macOS",
  "windows",
  "uninstall",
  "offline",
  "phpBB",
  "drupal",
  "translate",
  "who was refused",
  "cancel batch",
  "excel umlauts",
  "forgot password",
  "two-factor",
  "SSO",
  "rotate key",
  "grafana",
  "GDPR",
  "delete data",
  "licence",
  "ZeroBounce",
] as const;

test("what people ask is answered two clicks from the README", () => {
  assert.match(readDocument("README.md"), /\]\(docs\/README\.md\)/);
  const rows = tableUnder(readDocument("docs/README.md"), "## Questions");
  for (const typed of TYPED) {
    const words = typed.toLowerCase().split(" ");
    const found = rows.filter(([question = ""]) =>
      words.every((word) => question.toLowerCase().includes(word)),
    );
    assert.ok(found.length > 0, typed);
    for (const [, answer = ""] of found) assert.notEqual(answer, "", typed);
  }
});

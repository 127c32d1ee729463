import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { verifySignature } from "../../src/main/library.ts";
import { readDocument, tableUnder } from "../guards/docs-tables.ts";
import { appWith } from "../http/http-app.ts";
import { inject } from "../http/inject.ts";
import { CLIENT_CASES } from "./cases.ts";

test("the clients' table of webhooks agrees with the service", () => {
  for (const { name, body, signature, secret, valid } of CLIENT_CASES.webhooks) {
    const octets = Buffer.from(body, "base64");
    assert.equal(verifySignature(octets, signature ?? undefined, secret), valid, name);
  }
});

test("docs/clients.md has the table of statuses", () => {
  const want = CLIENT_CASES.statuses.map(({ status, by, decision, reason, message = "" }) => [
    status.join(", "),
    by,
    decision,
    reason,
    message,
  ]);
  const rows = tableUnder(readDocument("docs/clients.md"), "## Without an answer").slice(
    0,
    want.length,
  );
  assert.deepEqual(
    rows.map((row) => row.map((cell) => cell.replaceAll("`", ""))),
    want,
  );
});

/** Method, slow body, long URL, encoding, large head: what only a program gets wrong counts as 500. */
const OF_BROKEN_REQUESTS = ["405", "408", "414", "415", "431"];

test("the table has each status that /api/decide may answer, and who provokes it is no visitor", async () => {
  const { body } = await inject(appWith(), "/openapi.json");
  const { paths } = JSON.parse(body) as {
    readonly paths: Readonly<Record<string, { readonly post: { readonly responses: object } }>>;
  };
  const answers = Object.keys(paths["/api/decide"]?.post.responses ?? {});
  const refused = answers.filter((status) => status !== "200");
  assert.ok(refused.length >= 6, refused.join());
  const known = new Set(CLIENT_CASES.statuses.flatMap(({ status }) => status.map(String)));
  const others = refused.filter((status) => !known.has(status));
  assert.deepEqual(others, OF_BROKEN_REQUESTS);
  for (const { by } of CLIENT_CASES.statuses)
    assert.match(by, /^(the operator|the programmer|a caller)\b(?!.*visitor)/);
});

/** What a constructor takes, in the order of its source. */
const TAKEN = [
  [
    "clients/typescript/src/client.ts",
    "export interface GatepostOptions {",
    "\n}",
    /^ {2}readonly (\w+)\??:/gm,
  ],
  ["clients/python/gatepost/client.py", "def __init__(", "):", /^ {8}(?!self)(\w+): /gm],
  ["clients/php/src/Client.php", "function __construct(", ") {", /\$(\w+)\b/g],
] as const;

/** Of tests alone. */
const UNSAID = new Set(["clock"]);

for (const [column, [file, begin, end, name]] of TAKEN.entries()) {
  test(`docs/clients.md has the options of ${file}`, () => {
    const source = readFileSync(new URL(`../../../${file}`, import.meta.url), "utf8");
    const start = source.indexOf(begin);
    const part = source.slice(start, source.indexOf(end, start + begin.length));
    const taken = [...part.matchAll(name)].map(([, option = ""]) => option);
    const rows = tableUnder(readDocument("docs/clients.md"), "## Options");
    const said = rows.flatMap((row) =>
      [...(row[column] ?? "").matchAll(/`(\w+)`/g)].map(([, option = ""]) => option),
    );
    const elsewhere = file.endsWith(".php") ? ["cacheFolder"] : [];
    assert.ok(taken.length > 8);
    assert.deepEqual(
      [...said, ...elsewhere].sort(),
      taken.filter((option) => !UNSAID.has(option)).sort(),
    );
  });
}

test("docs/clients.md has every kind of fault", () => {
  const source = readFileSync(
    new URL("../../../clients/typescript/src/results.ts", import.meta.url),
    "utf8",
  );
  const [, kinds = ""] = /export type FaultKind = ([^;]*);/.exec(source) ?? [];
  const rows = tableUnder(readDocument("docs/clients.md"), "## Faults");
  assert.deepEqual(
    rows.map(([kind = ""]) => kind.replaceAll("`", "")).sort(),
    [...kinds.matchAll(/"(\w+)"/g)].map(([, kind = ""]) => kind).sort(),
  );
});

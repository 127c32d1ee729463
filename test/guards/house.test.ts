import { strict as assert } from "node:assert";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { SOURCES } from "./docs-tables.ts";

const root = new URL("../../../", import.meta.url);

function textsOf(...folders: readonly string[]): ReadonlyMap<string, string> {
  const paths = folders.flatMap((folder) =>
    readdirSync(new URL(`${folder}/`, root), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(?:tsx?|mjs)$/.test(name) && !name.includes("node_modules/"))
      .map((name) => `${folder}/${name}`),
  );
  return new Map(paths.map((path) => [path, readFileSync(new URL(path, root), "utf8")]));
}

/** Used by programs of users, and a sample shown unchanged. */
const FOR_OTHERS = new Set(["createValidator", "isGenuine"]);

/** Holds the text of files that another test plants. */
const PLANTED = "test/guards/newcomer-plants.ts";

const EXPORTED = /^export (?:async )?(?:function\*?|const|class) (\w+)/gm;

test("every function, class and value that a file exports is used by another one", () => {
  const texts = new Map(textsOf(...SOURCES, "test", "bench"));
  texts.delete(PLANTED);
  const users = new Map<string, number>();
  for (const text of texts.values()) {
    for (const word of new Set(text.match(/\w+/g))) users.set(word, (users.get(word) ?? 0) + 1);
  }
  const idle = [...texts].flatMap(([path, text]) =>
    [...text.matchAll(EXPORTED)]
      .map(([, name = ""]) => name)
      .filter((name) => users.get(name) === 1 && !FOR_OTHERS.has(name))
      .map((name) => `${path} ${name}`),
  );
  assert.ok(texts.size > 500);
  assert.deepEqual(idle, []);
});

const TYPE = /^(?:export )?(?:abstract )?(?:interface|type|class) (\w+)/gm;

/** A page's module has its component under this name, and each library its `createValidator`. */
const OF_EACH = new Set(["Page", "createValidator"]);

const NAMED = [
  ["gives a type", TYPE],
  ["exports a value", EXPORTED],
] as const;

for (const [what, pattern] of NAMED) {
  test(`no file of the sources ${what} by the name of another file's`, () => {
    const files = new Map<string, string[]>();
    for (const [path, text] of textsOf(...SOURCES)) {
      if (path.includes(".test.")) continue;
      for (const [, name = ""] of text.matchAll(pattern)) {
        const known = files.get(name) ?? [];
        if (!known.includes(path)) files.set(name, [...known, path]);
      }
    }
    assert.ok(files.size > 500);
    assert.deepEqual(
      [...files].filter(([name, paths]) => paths.length > 1 && !OF_EACH.has(name)),
      [],
    );
  });
}

test("no file of the sources or tests has more than 500 lines", () => {
  const long = [...textsOf(...SOURCES, "test")].filter(([, text]) => text.split("\n").length > 501);
  assert.deepEqual(
    long.map(([path]) => path),
    [],
  );
});

import { strict as assert } from "node:assert";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { test } from "node:test";

const FOLDER = fileURLToPath(new URL("../../../src/dashboard/", import.meta.url));
const FILES = readdirSync(FOLDER, { recursive: true }).map(String);

const textOf = (kind: RegExp): string =>
  FILES.filter((name) => kind.test(name))
    .map((name) => readFileSync(FOLDER + name, "utf8"))
    .join("\n");

test("every class that the styles name is a word of the pages", () => {
  const words = new Set(textOf(/\.(?:tsx?|html)$/).match(/[a-z][\w-]*/g));
  const styles = textOf(/\.css$/).replaceAll(/\/\*[^]*?\*\/|url\([^)]*\)/g, "");
  const classes = [...styles.matchAll(/\.([a-z][\w-]*)/g)].map(([, name = ""]) => name);
  assert.ok(classes.length > 100);
  assert.deepEqual(
    classes.filter((name) => !words.has(name)),
    [],
  );
});

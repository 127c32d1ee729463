// Writes the tables of tables/ and the widget into src/core/tables/texts.ts, which is imported without reading files.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const out = join(root, "src/core/tables/texts.ts");
const texts = readdirSync(join(root, "tables"))
  .filter((name) => name.endsWith(".txt"))
  .sort()
  .map((name) => [name.slice(0, -".txt".length), readFileSync(join(root, "tables", name), "utf8")]);
texts.push(["widget", readFileSync(join(root, "packages/widget/widget.js"), "utf8")]);
// One export a table, so that a bundler leaves out what a page or the light library does not use.
const lines = texts.map(([name, text]) => {
  const camel = name.replace(/-(.)/g, (_, letter) => letter.toUpperCase());
  return `export const ${camel}: string = ${JSON.stringify(text)};\n`;
});
const made = `// Made by scripts/tables.mjs.\n${lines.join("")}`;
if (!existsSync(out) || readFileSync(out, "utf8") !== made) writeFileSync(out, made);

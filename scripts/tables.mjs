// Writes the tables of tables/ into src/core/tables/texts.ts, which the core can import without reading files.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const out = join(root, "src/core/tables/texts.ts");
const texts = readdirSync(join(root, "tables"))
  .filter((name) => name.endsWith(".txt"))
  .sort()
  .map((name) => [name.slice(0, -".txt".length), readFileSync(join(root, "tables", name), "utf8")]);
const lines = texts.map(([name, text]) => `  ${JSON.stringify(name)}: ${JSON.stringify(text)},\n`);
const made = `// Made by scripts/tables.mjs.\nexport const TEXTS = {\n${lines.join("")}} as const;\n`;
if (!existsSync(out) || readFileSync(out, "utf8") !== made) writeFileSync(out, made);

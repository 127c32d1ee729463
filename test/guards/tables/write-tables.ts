// Writes the tables of the documents that the code decides: npm run docs.
import { readFileSync, writeFileSync } from "node:fs";
import { TABLES, withTable } from "./document-tables.ts";

for (const table of TABLES) {
  const file = new URL(`../../../../${table.page}`, import.meta.url);
  writeFileSync(file, withTable(readFileSync(file, "utf8"), table));
}

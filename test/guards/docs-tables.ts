import { readdirSync, readFileSync } from "node:fs";

const root = new URL("../../../", import.meta.url);

/** A document of the project, by its path from the root. */
export function readDocument(path: string): string {
  return readFileSync(new URL(path, root), "utf8");
}

/** The folders of the program and of the packages that are made of TypeScript. */
export const SOURCES = ["src", "packages/light/src", "packages/mcp/src"];

/** The paths of all that stands in the sources, tests and folders too, from the root. */
export const sourcePaths = (): readonly string[] =>
  SOURCES.flatMap((folder) =>
    readdirSync(new URL(`${folder}/`, root), { recursive: true, encoding: "utf8" }).map(
      (name) => `${folder}/${name}`,
    ),
  );

/** The cells of every row of the table under `heading`, its head and rule left out. */
export function tableUnder(document: string, heading: string): readonly (readonly string[])[] {
  const start = document.indexOf(`\n${heading}\n`);
  if (start < 0) throw new Error(`no heading "${heading}"`);
  const rest = document.slice(start + heading.length + 2);
  const nextHeading = rest.search(/^#{1,6} /m);
  const section = nextHeading < 0 ? rest : rest.slice(0, nextHeading);
  const rows = section.split("\n").filter((line) => line.startsWith("|"));
  return rows.slice(2).map(cells);
}

export function cells(row: string): readonly string[] {
  return row
    .slice(1, row.lastIndexOf("|"))
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));
}

/** A cell that is one piece of code, without its backticks. */
export function plain(cell: string): string {
  return cell.replace(/^`(.*)`$/, "$1");
}

import { readFileSync } from "node:fs";
import { parse } from "yaml";

const root = new URL("../../../../", import.meta.url);

/** A file of the project as text, by its path from the root. */
export const readText = (path: string): string => readFileSync(new URL(path, root), "utf8");

/** A YAML document of a known shape; anchors and merges are resolved. */
export const readYaml = <Shape>(path: string): Shape =>
  parse(readText(path), { merge: true }) as Shape;

/** `[Section]`, `Name=value`: each name with all its values. */
export function readUnit(text: string): ReadonlyMap<string, readonly string[]> {
  const settings = new Map<string, string[]>();
  for (const line of text.split("\n")) {
    const [, name, value] = /^(\w+)=(.*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) continue;
    settings.set(name, [...(settings.get(name) ?? []), value]);
  }
  return settings;
}

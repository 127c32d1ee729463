import { readFileSync } from "node:fs";

/** The version of this package. */
export function programVersion(): string {
  const file = new URL("../../../../package.json", import.meta.url);
  return (JSON.parse(readFileSync(file, "utf8")) as { readonly version: string }).version;
}

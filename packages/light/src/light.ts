// The light package in Node. Its build makes one file of this and puts the lists beside it.
import { fileURLToPath } from "node:url";
import { readListsFile } from "./fresh-lists.ts";
import { openValidator, type ValidatorOptions } from "./node.ts";
import type { Validator } from "./validator.ts";

export * from "./node.ts";

const BUNDLED = fileURLToPath(new URL("bundled.lists", import.meta.url));

/** Gatepost inside a program of yours: no server, no database, no limits except DNS. */
export function createValidator(options: ValidatorOptions = {}): Promise<Validator> {
  return openValidator(options, () => readListsFile(BUNDLED));
}

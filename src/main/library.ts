import { loadLists } from "../lists/load-lists.ts";
import { openValidator, type ValidatorOptions } from "./library/node.ts";
import type { Validator } from "./library/validator.ts";

export {
  checkSyntax,
  dnsOverHttps,
  readLists,
  verifySignature,
  verifyWebhook,
} from "./library/node.ts";
export type { Result, Validator, ValidatorOptions } from "./library/node.ts";
export type { FullResult } from "../core/validate/result.ts";

/** Gatepost inside a program of yours: no server, no database, no limits except DNS. */
export function createValidator(options: ValidatorOptions = {}): Promise<Validator> {
  return openValidator(options, () => loadLists().shared);
}

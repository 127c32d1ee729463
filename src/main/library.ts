import { loadLists } from "../lists/load-lists.ts";
import { openValidator, type ValidatorOptions } from "../../packages/light/src/node.ts";
import type { Validator } from "../../packages/light/src/validator.ts";

export {
  checkSyntax,
  dnsOverHttps,
  readLists,
  verifySignature,
  verifyWebhook,
} from "../../packages/light/src/node.ts";
export type { Result, Validator, ValidatorOptions } from "../../packages/light/src/node.ts";
export type { FullResult } from "../core/validate/result.ts";

/** Gatepost inside a program of yours: no server, no database, no limits except DNS. */
export function createValidator(options: ValidatorOptions = {}): Promise<Validator> {
  return openValidator(options, () => loadLists().shared);
}

import { badField } from "../../base/refusals.ts";
import type { AccountRequest } from "./route.ts";

type Body = AccountRequest["body"];

/** A text of the body; throws a `Refusal` when it is absent, of another type or too long. */
export function textField(body: Body, name: string, maxCharacters: number): string {
  const value = body[name];
  if (typeof value !== "string") throw badField(`"${name}" must be text.`);
  if (value.length > maxCharacters) {
    throw badField(`"${name}" must have at most ${String(maxCharacters)} characters.`);
  }
  return value;
}

/** A list of texts of the body, at most `maxItems`. */
export function textsField(body: Body, name: string, maxItems: number): readonly string[] {
  const value = body[name];
  const isList = Array.isArray(value) && value.every((item) => typeof item === "string");
  if (!isList || value.length > maxItems) throw badField(`"${name}" must be a list of texts.`);
  return value;
}

export function numberField(body: Body, name: string): number {
  const value = body[name];
  if (typeof value !== "number" || !Number.isSafeInteger(value)) {
    throw badField(`"${name}" must be a whole number.`);
  }
  return value;
}

/** A whole number of the query within bounds; `standard` when it is absent or no such number. */
export function boundedNumber(
  text: string | undefined,
  { standard, max }: { readonly standard: number; readonly max: number },
): number {
  const value = Number(text ?? "");
  return Number.isSafeInteger(value) && value >= 1 && value <= max ? value : standard;
}

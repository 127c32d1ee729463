import { type Described, oneOf, orNull, Type } from "../core/json-schema.ts";
import type { Signal } from "../core/evidence/signals.ts";
import { type Advice, ListBehind, type SaidBy } from "../core/validate/explain.ts";
import type { FullResult } from "../core/validate/result.ts";
import type { DenialFields } from "./single-check.ts";

const text = Type.String();
const count = Type.Integer({ minimum: 0 });
const time = Type.String({ format: "date-time" });

const EvidenceShape = Type.Object({
  signal: Type.Unsafe<Signal>({ type: "string", description: "Its name." }),
  weight: Type.Integer({ minimum: 0, maximum: 100 }),
  subject: Type.Optional(text),
  by: Type.Optional(Type.Unsafe<SaidBy>({ type: "string", description: "Who says so." })),
  lists: Type.Array(ListBehind),
});
export type EvidenceShape = Described<typeof EvidenceShape>;

export const CheckStep = Type.Object({
  step: oneOf(["core", "full"], "The core facts first, everything last."),
  result: Type.Unsafe<FullResult & DenialFields>({ $ref: "#/components/schemas/Result" }),
  evidence: Type.Array(EvidenceShape),
  advice: Type.Array(
    Type.Unsafe<Advice>({ type: "object", description: "What one premium result means." }),
  ),
  problem: Type.Optional(Type.String({ description: "Why it is not an address or domain." })),
  meant: Type.Optional(Type.String({ description: "The entry as it was probably meant." })),
  dns_down: Type.Optional(
    Type.Boolean({ description: "True: this service's own name server does not answer." }),
  ),
});
export type CheckStep = Described<typeof CheckStep>;

export const FrontPage = Type.Object({
  checked_at: time,
  examples: Type.Array(Type.Object({ entry: text, step: CheckStep })),
  lists: count,
  list_entries: Type.Integer({ minimum: 0, description: "Names on all lists together." }),
  lists_updated_at: orNull(time),
});
export type FrontPage = Described<typeof FrontPage>;

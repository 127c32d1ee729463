import { type Described, orNull, Type } from "../core/json-schema.ts";

const text = Type.String();
const time = Type.String({ format: "date-time" });

export const KEY = {
  id: text,
  name: text,
  prefix: text,
  last_four: text,
  created_at: time,
  last_used_at: orNull(time),
  revoked_at: orNull(time),
  origins: Type.Optional(Type.Array(text)),
  policy: Type.Optional(text),
  form: Type.Optional(text),
  daily: Type.Optional(Type.Integer()),
};
const Key = Type.Object(KEY);
export type Key = Described<typeof Key>;

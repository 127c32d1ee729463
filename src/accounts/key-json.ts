import { isoTime, isoTimeOrNull } from "../core/calendar.ts";
import { type Described, orNull, Type } from "../core/json-schema.ts";
import type { ApiKey } from "./keys.ts";

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
  /** Of publishable keys alone. */
  origins: Type.Optional(Type.Array(text)),
  policy: Type.Optional(text),
  form: Type.Optional(text),
  daily: Type.Optional(Type.Integer()),
};
const Key = Type.Object(KEY);
export type Key = Described<typeof Key>;

/** A key as the commands and the dashboard show it: snake_case, ISO 8601, null for what is absent; never the key itself. */
export const keyJson = (key: ApiKey): Key => ({
  id: key.id,
  name: key.name,
  prefix: key.prefix,
  last_four: key.lastFour,
  created_at: isoTime(key.createdAtMs),
  last_used_at: isoTimeOrNull(key.lastUsedAtMs),
  revoked_at: isoTimeOrNull(key.revokedAtMs),
  ...(key.origins !== undefined && { origins: key.origins }),
  ...key.page,
});

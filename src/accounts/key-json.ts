import { isoTime, isoTimeOrNull } from "../core/calendar.ts";
import { type ApiKey, originsOf } from "./key-store.ts";

/** A key as the commands and the dashboard show it: never the key itself. */
export function keyJson(key: ApiKey) {
  const { origins, page } = originsOf(key);
  return {
    id: key.id,
    name: key.name,
    prefix: key.prefix,
    last_four: key.last_four,
    created_at: isoTime(key.created_at_ms),
    last_used_at: isoTimeOrNull(key.last_used_at_ms),
    revoked_at: isoTimeOrNull(key.revoked_at_ms),
    ...(origins !== undefined && { origins }),
    ...page,
  };
}

export type Key = ReturnType<typeof keyJson>;

import { isoTime, isoTimeOrNull } from "../core/calendar.ts";
import { type ApiKey, originsOf, type PageTerms } from "./key-store.ts";

/** A key as the commands and the dashboard show it: never the key itself. */
export interface Key extends Partial<PageTerms> {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly last_four: string;
  readonly created_at: string;
  readonly last_used_at: string | null;
  readonly revoked_at: string | null;
  readonly origins?: readonly string[];
}

export function keyJson(key: ApiKey): Key {
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

import { isoTime, isoTimeOrNull } from "../../core/calendar.ts";
import type { ApiKey } from "../../ports/admission/keys.ts";

/** A key as the commands and the dashboard show it: snake_case, ISO 8601, null for what is absent; never the key itself. */
export const keyJson = (key: ApiKey): Readonly<Record<string, string | null>> => ({
  id: key.id,
  name: key.name,
  prefix: key.prefix,
  last_four: key.lastFour,
  created_at: isoTime(key.createdAtMs),
  last_used_at: isoTimeOrNull(key.lastUsedAtMs),
  revoked_at: isoTimeOrNull(key.revokedAtMs),
});

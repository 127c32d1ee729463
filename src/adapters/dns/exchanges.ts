import type { MailExchange } from "../../core/lookup.ts";

/** Lists kept for sharing; a list beyond is its owner's alone. */
const LISTS_MAX = 20_000;

/** A list of more exchanges is nobody else's. */
const SHARED_LENGTH_MAX = 16;

/**
 * Puts MX records in order (preference, then host: servers turn equal ones around) and gives the domains
 * of one mail provider one and the same list, which takes 173 octets of an entry's 463 away.
 */
export function shareExchanges(): (records: readonly MailExchange[]) => readonly MailExchange[] {
  const lists = new Map<string, readonly MailExchange[]>();
  return (records) => {
    const sorted = records.length > 1 ? records.toSorted(byPreference) : records;
    if (sorted.length > SHARED_LENGTH_MAX) return sorted;
    let key = "";
    for (const { preference, host } of sorted) key += `${preference} ${host} `;
    const shared = lists.get(key);
    if (shared !== undefined) return shared;
    for (const oldest of lists.keys()) {
      if (lists.size < LISTS_MAX) break;
      lists.delete(oldest);
    }
    lists.set(key, sorted);
    return sorted;
  };
}

function byPreference(a: MailExchange, b: MailExchange): number {
  return a.preference - b.preference || (a.host < b.host ? -1 : Number(a.host > b.host));
}

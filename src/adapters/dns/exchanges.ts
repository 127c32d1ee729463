import type { MailExchange } from "../../core/lookup.ts";

/** Lists kept for sharing; when there are more, sharing starts over. */
const LISTS_MAX = 20_000;

/** A list of more exchanges is nobody else's. */
const SHARED_LENGTH_MAX = 16;

/**
 * Puts MX records in order (preference, then host: servers turn equal ones around) and gives the domains
 * of one mail provider one and the same list, which is most of what an answer weighs.
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
    if (lists.size >= LISTS_MAX) lists.clear();
    lists.set(key, sorted);
    return sorted;
  };
}

function byPreference(a: MailExchange, b: MailExchange): number {
  return a.preference - b.preference || (a.host < b.host ? -1 : Number(a.host > b.host));
}

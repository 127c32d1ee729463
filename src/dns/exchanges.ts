import type { MailExchange } from "../core/mail/lookup.ts";
import { triedExchanges } from "../core/mail/mail-hosts.ts";
import { appended } from "./message/appended.ts";

/** Shared lists that are remembered; when there are more, all are forgotten. */
const LISTS_MAX = 20_000;

/** Longer lists are not shared, and only what is tried of them is kept. */
const SHARED_LENGTH_MAX = 16;
const SHARED_NAMES_MAX_OCTETS = 512;

/** The most lists with the same first host that are kept apart; later ones are not shared. */
const SAME_HOST_MAX = 64;

/**
 * Puts MX records in order (preference, then host: servers turn equal ones around) and gives the domains
 * of one mail provider one and the same list, which is most of what an answer weighs.
 */
export function shareExchanges(): (records: readonly MailExchange[]) => readonly MailExchange[] {
  const lists = new SharedLists();
  return (records) => {
    const sorted = records.length > 1 ? records.toSorted(byPreference) : records;
    return isLong(sorted) ? shortened(sorted) : lists.share(sorted);
  };
}

const isLong = (list: readonly MailExchange[]): boolean =>
  list.length > SHARED_LENGTH_MAX ||
  list.reduce((octets, { host }) => octets + host.length, 0) > SHARED_NAMES_MAX_OCTETS;

/** Where none can be tried one is kept, which still tells a null MX from hosts that cannot be used. */
function shortened(list: readonly MailExchange[]): readonly MailExchange[] {
  const tried = triedExchanges(list);
  if (tried.length > 0) return tried;
  return list.toSorted((one, other) => other.host.length - one.host.length).slice(0, 1);
}

/** Indexed by first host, because a text key for each list costs more than comparing a few lists. */
class SharedLists {
  readonly #byHost = new Map<string, (readonly MailExchange[])[]>();
  #length = 0;

  /** The remembered list that equals `list`, or `list` itself. */
  share(list: readonly MailExchange[]): readonly MailExchange[] {
    const host = list[0]?.host ?? "";
    const kept = this.#byHost.get(host);
    const same = kept?.find((other) => areSame(other, list));
    if (same !== undefined) return same;
    if (kept === undefined || kept.length < SAME_HOST_MAX) this.#keep(host, list);
    return list;
  }

  #keep(host: string, list: readonly MailExchange[]): void {
    if (this.#length >= LISTS_MAX) {
      this.#byHost.clear();
      this.#length = 0;
    }
    this.#byHost.set(host, appended(this.#byHost.get(host), list));
    this.#length += 1;
  }
}

function areSame(one: readonly MailExchange[], other: readonly MailExchange[]): boolean {
  if (one.length !== other.length) return false;
  return one.every(({ preference, host }, index) => {
    const its = other[index];
    return its?.preference === preference && its.host === host;
  });
}

function byPreference(a: MailExchange, b: MailExchange): number {
  return a.preference - b.preference || (a.host < b.host ? -1 : Number(a.host > b.host));
}

import { LRUCache } from "lru-cache";
import { entriesUpTo } from "../base/entries.ts";
import { base32, deriveKey } from "../base/secrets.ts";
import { TextHmac } from "../base/text-hmac.ts";
import { type Address, addressKey } from "../core/address/address.ts";
import { canonicalAddress } from "../core/evidence/alias.ts";
import type { Datasets } from "../core/evidence/datasets.ts";
import { isKnownGood } from "../core/evidence/domain-evidence.ts";
import { relayOfDomain } from "../core/mail/mail-hosts.ts";
import { type Domain, registrableOf } from "../core/name/domain.ts";
import {
  DYNAMIC_DNS,
  FAMILY_EXCEPTIONS,
  FREE_REGISTRIES,
  LARGE_PROVIDERS,
  WEAK_REGISTRIES,
} from "../core/tables/data.ts";
import type { Validation } from "../core/validate/validate.ts";
import { shapeOf } from "../core/evidence/local-shape.ts";
import { countedAddress } from "../core/name/ip-address.ts";
import type { PolicyQuestion } from "../core/policy/default-policy.ts";
import { NET } from "../core/policy/policy.ts";
import { PAGE_PREFIX } from "./traffic-store.ts";

/** What an account's decisions say of an address: hashes under a key of the account, which no other's rows match. */

/** 26 characters of base32: HMAC-SHA-256 under a key of the account, cut to 130 bits. "often": kept, for texts that come again. */
export type AccountHash = (accountId: string, text: string, how?: "often") => string;

const HASH_LENGTH = 26;
/** So many octets hold the 130 bits. */
const HASH_OCTETS = 17;

const ACCOUNTS_MAX = 10_000;
const HASHES_MAX = 10_000;

export const mailboxKey = (secretKey: Uint8Array): Uint8Array =>
  deriveKey(secretKey, "mailbox ids");

export function createAccountHash(key: Uint8Array): AccountHash {
  const byAccount = new LRUCache<string, TextHmac>(entriesUpTo(ACCOUNTS_MAX));
  const ids = new TextHmac(key);
  const made = (accountId: string, text: string): string => {
    const known = byAccount.get(accountId);
    const own = known ?? new TextHmac(ids.of(accountId));
    if (known === undefined) byAccount.set(accountId, own);
    return base32(own.of(text).subarray(0, HASH_OCTETS)).slice(0, HASH_LENGTH);
  };
  const hashes = new LRUCache<string, string>(entriesUpTo(HASHES_MAX));
  return (accountId, text, how) => {
    if (how !== "often") return made(accountId, text);
    const place = `${accountId} ${text}`;
    const known = hashes.get(place);
    if (known !== undefined) return known;
    const hash = made(accountId, text);
    hashes.set(place, hash);
    return hash;
  };
}

/** The id that all spellings of one mailbox share within an account; two accounts never share one. */
export const mailboxId = (
  hash: AccountHash,
  accountId: string,
  address: Parameters<typeof canonicalAddress>[0],
): string => `m_${hash(accountId, canonicalAddress(address))}`;

const markerOf =
  (hash: AccountHash, { accountId, since, isPage }: TrafficOwner) =>
  (kind: string, text: string, how?: "often"): string => {
    const hashed = hash(accountId, `${kind} ${String(since)} ${text}`, how);
    return isPage ? PAGE_PREFIX + hashed : hashed;
  };

/** The marks of an address alone: its mailbox, and this spelling. */
export function trafficMarks(
  hash: AccountHash,
  owner: TrafficOwner,
  address: Address,
): readonly [mailbox: string, spelling: string] {
  const mark = markerOf(hash, owner);
  return [mark("mailbox", canonicalAddress(address)), mark("spelling", addressKey(address))];
}

/** The subject of messages that somebody asks for who is known. */
export const knownMark = (mailbox: string): string => `known.${mailbox}`;

export const messagesMark = (hash: AccountHash, owner: TrafficOwner): string =>
  markerOf(hash, owner)("messages", "", "often");

/** An account with its traffic on. `since` changes when it is switched off and on: older rows are gone then. */
export interface TrafficOwner {
  readonly accountId: string;
  readonly since: number;
  /** Anybody may ask with the key of a page: that is counted apart, and read for such decisions alone. */
  readonly isPage: boolean;
}

export interface Marks {
  readonly owner: TrafficOwner;
  readonly mailbox: string;
  readonly spelling: string;
  readonly messages: string;
  /** What is counted of the account's sign-ups at large and free providers, and the shape of this one's name. */
  readonly shape?: { readonly subject: string; readonly of: string } | undefined;
  /** Absent for domains whose mailboxes belong to strangers, those of private suffixes included. */
  readonly domain?: string | undefined;
  /** Absent at the registrable domain itself. */
  readonly subName?: string | undefined;
  readonly mailHost?: string | undefined;
}

interface MarkedAddress {
  readonly address: Address;
  readonly host: string | undefined;
  readonly own: string | undefined;
  readonly isAtProvider: boolean;
}

/** Each is hashed when it is read first: a decision beyond the rate reads two. */
class AddressMarks implements Marks {
  readonly owner: TrafficOwner;
  readonly #of: MarkedAddress;
  readonly #mark: ReturnType<typeof markerOf>;
  #mailbox: string | undefined;
  #spelling: string | undefined;
  #shape: Marks["shape"];
  #domain: string | undefined;
  #subName: string | undefined;
  #mailHost: string | undefined;

  constructor(owner: TrafficOwner, of: MarkedAddress, hash: AccountHash) {
    this.owner = owner;
    this.#of = of;
    this.#mark = markerOf(hash, owner);
  }

  get mailbox(): string {
    return (this.#mailbox ??= this.#mark("mailbox", canonicalAddress(this.#of.address)));
  }

  get spelling(): string {
    return (this.#spelling ??= this.#mark("spelling", addressKey(this.#of.address)));
  }

  get messages(): string {
    return this.#mark("messages", "", "often");
  }

  get shape(): Marks["shape"] {
    const { isAtProvider, address } = this.#of;
    if (!isAtProvider) return undefined;
    return (this.#shape ??= {
      subject: this.#mark("shapes", "", "often"),
      of: shapeOf(address.localPart),
    });
  }

  get domain(): string | undefined {
    const { own } = this.#of;
    return own === undefined ? undefined : (this.#domain ??= this.#mark("domain", own));
  }

  get subName(): string | undefined {
    const { own, address } = this.#of;
    const { name } = address.domain;
    if (own === undefined || name === own) return undefined;
    return (this.#subName ??= this.#mark("name", name));
  }

  get mailHost(): string | undefined {
    const { own, host } = this.#of;
    if (own === undefined || host === undefined) return undefined;
    return (this.#mailHost ??= this.#mark("mail host", registrableOf(host) ?? host));
  }
}

export function marksOf(
  owner: TrafficOwner,
  { entry, mail }: Pick<Validation, "entry" | "mail">,
  {
    hash,
    datasets,
    reportedDomain,
  }: {
    readonly hash: AccountHash;
    readonly datasets: OwnDomainData;
    /** By `reportedDomainOf`. */
    readonly reportedDomain: string | undefined;
  },
): Marks | undefined {
  if (entry.kind !== "address") return undefined;
  const { address, domain } = entry;
  const [host] = mail?.kind === "hosts" ? mail.hosts : [];
  const of = {
    address,
    host,
    own: domain.registrableDomain === domain.privateRegistrableDomain ? reportedDomain : undefined,
    isAtProvider: isAtProvider(domain, datasets),
  };
  return new AddressMarks(owner, of, hash);
}

/** Large and free providers give names to everybody who asks. */
const isAtProvider = ({ name, registrableDomain }: Domain, { free }: OwnDomainData): boolean =>
  [name, registrableDomain ?? name].some((one) => LARGE_PROVIDERS.has(one) || free.has(one));

/** What the application knows about who asks: a name of `count_by`, and its value as it is counted. */
export interface SourceKey {
  readonly name: string;
  readonly text: string;
}

/** An "ip" counts by its network too. Undefined for an "ip" that is no address. */
export function sourceKeys(name: string, value: string): readonly SourceKey[] | undefined {
  if (name !== IP) return [{ name, text: value }];
  const counted = countedAddress(value.trim());
  return (
    counted && [
      { name, text: counted.host },
      { name: NET, text: counted.net },
    ]
  );
}

export const IP = "ip";

/** The subject of one key: mailboxes are counted by what was asked of them. */
export interface SourceMark {
  readonly name: string;
  readonly subject: string;
}

export function sourceMarks(
  hash: AccountHash,
  owner: TrafficOwner,
  question: PolicyQuestion,
  keys: readonly SourceKey[],
): readonly SourceMark[] {
  const mark = markerOf(hash, owner);
  return keys.map(({ name, text }) => ({
    name,
    subject: mark(`${question} by ${name}`, text, "often"),
  }));
}

const SHOWN_LENGTH = 8;

/** A short hash of a key for the decision log, by which the value is found again. */
export const sourceId = (hash: AccountHash, accountId: string, { name, text }: SourceKey): string =>
  hash(accountId, `source ${name} ${text}`, "often").slice(0, SHOWN_LENGTH);

type OwnDomainData = Pick<Datasets, "free" | "knownGood" | "operator">;

/**
 * The domain that feedback is about, which may be one customer's of a private suffix such as "github.io". Undefined for providers,
 * relays, public suffixes, registries of free names and dynamic DNS: no one owner has them.
 */
export function reportedDomainOf(domain: Domain, datasets: OwnDomainData): string | undefined {
  const { name, privateRegistrableDomain: own } = domain;
  if (own === undefined || relayOfDomain(domain) !== undefined) return undefined;
  if (SHARED.some((names) => names.has(own))) return undefined;
  const isShared = [name, own].some(
    (one) => LARGE_PROVIDERS.has(one) || datasets.free.has(one) || isKnownGood(one, datasets),
  );
  return isShared ? undefined : own;
}

const SHARED = [DYNAMIC_DNS, FAMILY_EXCEPTIONS, FREE_REGISTRIES, WEAK_REGISTRIES];

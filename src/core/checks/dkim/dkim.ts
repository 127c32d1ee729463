import type { Lookup } from "../../mail/lookup.ts";
import { COMMON_SELECTORS, RARER_SELECTORS, SELECTORS_OF_PROVIDER } from "../../tables/data.ts";
import { Type } from "../../json-schema.ts";
import {
  AUTH,
  type Advised,
  type Check,
  type CheckRun,
  type FieldsOf,
  NOT_NOW,
  type CheckOutcome,
  type CheckedSubject,
  type AdviceWords,
} from "../check.ts";
import { type InboxProviderFields, findInboxProvider } from "../inbox-provider.ts";
import { parseTagList, textsAt } from "../tag-list.ts";

/** RFC 6376 section 3.6.1 and RFC 8463; keys of another type are of no use to a receiver. */
const KEY_TYPES: ReadonlySet<string> = new Set(["rsa", "ed25519"]);

/** Base64 with folding white space; its padding is not checked. */
const BASE64 = /^[A-Za-z0-9+/ \t\r\n]+={0,2}$/;

/** Whether a text is a DKIM key record (RFC 6376 section 3.6.1); an empty `p` takes the key back. Linear in its length. */
export function isKey(text: string): boolean {
  const { tags, first, wellFormed } = parseTagList(text);
  if (!wellFormed || !isVersion(tags.get("v"), first) || !BASE64.test(tags.get("p") ?? "")) {
    return false;
  }
  return KEY_TYPES.has(tags.get("k") ?? "rsa") && servesEmail(tags.get("s") ?? "*");
}

/** "If specified, this tag MUST be set to DKIM1" and stand first (RFC 6376 section 3.6.1). */
function isVersion(version: string | undefined, first: string | undefined): boolean {
  return version === undefined || (version === "DKIM1" && first === "v");
}

/** A list parted by colons; "*" is every service, other words than "email" are services of others. */
function servesEmail(services: string): boolean {
  return services.split(":").some((service) => /^(?:\*|email)$/i.test(service.trim()));
}

const FIELDS = {
  email_auth: Type.Object(
    {
      dkim_configured: Type.Optional(
        Type.Boolean({
          description:
            "Whether keys were found at the selectors probed (feature `dkim`); false does not exclude others.",
        }),
      ),
      dkim_selectors_found: Type.Optional(
        Type.Array(Type.String(), { description: "Lower case, in probe order." }),
      ),
    },
    { description: AUTH },
  ),
};
export type DkimFields = FieldsOf<typeof FIELDS>;

const IN_FLIGHT = 8;
const PROBES_MS = 2_500;
/** Three answer "is DKIM set up"; more would only cost its owner's servers questions. */
const FOUND_MAX = 3;
const SELECTORS_SURE = 20;
/** Selectors probed at the most. With the wildcard probe and a usual domain's SPF, DMARC and MX: 41 questions. */
const SELECTORS_MAX = 34;

export function selectorsFor(provider: string | undefined): readonly string[] {
  const own = provider === undefined ? [] : (SELECTORS_OF_PROVIDER.get(provider) ?? []);
  const all = new Set([...own, ...COMMON_SELECTORS, ...RARER_SELECTORS]);
  return [...all].slice(0, SELECTORS_MAX);
}

/** Shows whether a wildcard answers for all. It is a hash of the domain, so that a repeated check asks what caches know. */
export function unlikelySelector(domain: string): string {
  let low = 0x811c9dc5; // FNV-1a, twice from different starts
  let high = 0x01000193;
  for (let at = 0; at < domain.length; at += 1) {
    const code = domain.charCodeAt(at);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code, 0x01000193) ^ (low >>> 15);
  }
  const hex = (half: number): string => (half >>> 0).toString(16).padStart(8, "0");
  return `gp-${hex(low)}${hex(high)}`;
}

const fetchKeys = (
  selector: string,
  domain: string,
  lookup: Pick<Lookup, "txt">,
): Promise<readonly string[] | "unknown"> =>
  textsAt(`${selector}._domainkey.${domain}`, lookup, isKey);

interface Probing {
  readonly domain: string;
  readonly lookup: Pick<Lookup, "txt">;
  readonly selectors: readonly string[];
  readonly wildcard: Promise<readonly string[] | "unknown">;
  readonly found: Set<number>;
  next: number;
  inconclusive: boolean;
}

/** Eight at a time, until three are found: in order, so that the three do not depend on the order of answers. */
async function probeUntil(end: number, probing: Probing): Promise<void> {
  const worker = async (): Promise<void> => {
    while (probing.next < end && probing.found.size < FOUND_MAX) {
      await probe(probing.next++, probing);
    }
  };
  const late = probing.wildcard.then(worker); // the wildcard's own question is the eighth in flight
  await Promise.all([...Array.from({ length: IN_FLIGHT - 1 }, worker), late]);
}

async function probe(place: number, probing: Probing): Promise<void> {
  const { domain, lookup, selectors, wildcard, found } = probing;
  const keys = await fetchKeys(selectors[place] ?? "", domain, lookup);
  const masked = await wildcard;
  // A key proves nothing while a wildcard may have answered for it.
  if (keys === "unknown" || (masked === "unknown" && keys.length > 0)) probing.inconclusive = true;
  else if (keys.some((key) => !masked.includes(key))) found.add(place);
}

function outcome({ selectors, found, inconclusive }: Probing): CheckOutcome<DkimFields> {
  if (found.size === 0 && inconclusive) return "unavailable";
  const places = [...found].sort((a, b) => a - b).slice(0, FOUND_MAX);
  const names = places.flatMap((place) => selectors[place] ?? []);
  return { email_auth: { dkim_configured: names.length > 0, dkim_selectors_found: names } };
}

async function run(
  subject: CheckedSubject,
  { lookup, within, questionsLeft }: CheckRun,
): Promise<CheckOutcome<DkimFields>> {
  const found = await findInboxProvider(subject, lookup);
  const domain = subject.domain.name;
  const probes = within(PROBES_MS);
  const probing: Probing = {
    domain,
    lookup: probes,
    selectors: selectorsFor(found === "unavailable" ? undefined : found.inbox_provider),
    wildcard: fetchKeys(unlikelySelector(domain), domain, probes),
    found: new Set(),
    next: 0,
    inconclusive: false,
  };
  await probeUntil(SELECTORS_SURE, probing);
  if (probing.found.size < FOUND_MAX) {
    const end = SELECTORS_SURE + (await questionsLeft());
    await probeUntil(Math.min(end, probing.selectors.length), probing);
  }
  return outcome(probing);
}

function advise({
  domain,
  inbox_provider: provider = "your mail provider",
  email_auth: { dkim_configured: configured, dkim_selectors_found: found = [] } = {},
}: Advised & DkimFields & InboxProviderFields): AdviceWords {
  if (configured === undefined) return NOT_NOW;
  if (configured) {
    const says = `Messages can carry a signature (DKIM): found ${found.join(", ")}.`;
    return { state: "good", says, figure: "found" };
  }
  return {
    state: "warn",
    says: "No signature key (DKIM) was found in the usual places. A domain may keep it at a name that cannot be guessed.",
    fix: `Switch DKIM on at ${provider} and at every service that sends for you, and publish the record each one shows you, at a name that ends in ._domainkey.${domain}.`,
    figure: "none found",
  };
}

export const dkim: Check<"dkim", typeof FIELDS, InboxProviderFields> = {
  name: "dkim",
  title: "Signed mail (DKIM)",
  about: "Whether keys for signed mail are found.",
  fields: FIELDS,
  questions: 1 + SELECTORS_SURE, // more when the checks before it leave some
  run,
  advise,
};

import { isSpecialUse } from "../name/domain.ts";
import { DOMAIN_MAX_OCTETS } from "../limits.ts";
import type { Absent, Answer, Awaitable, Lookup } from "../mail/lookup.ts";

/** DNS questions asked so far, as they would go over the wire: an address question is two, A and AAAA. */
export interface QuestionCount {
  asked: number;
}

/** How SPF, DKIM and DMARC records begin (RFC 7208 section 4.5, RFC 6376 section 3.6.1, RFC 7489 section 6.3). */
const TAGGED = /^\s*[a-z]\s*=/i;

/** Texts at one name that a check keeps, in octets: 64 KiB at each of 40 names would fill the memory. */
const TEXTS_MAX_OCTETS = 16_384;

const NO_NAME: Absent = { kind: "absent", why: "noName" };

/** A blank, an empty label, or one beyond 63 octets (RFC 1035 section 2.3.4). */
const UNHEARD_OF = /[^!-~]|^$|^\.|\.\.|\.$|[^.]{64}/;

/** Whether a name can exist, and may be asked: records of others build names, and so do prefixes like "_dmarc". */
function isAskable(name: string): boolean {
  return name.length <= DOMAIN_MAX_OCTETS && !UNHEARD_OF.test(name) && !isSpecialUse(name);
}

/** `answer`, but of more than 16 KiB of texts only those with tags, and unknown when three or more of these are still more. */
function withoutBulk(answer: Answer<string>): Answer<string> {
  if (answer.kind !== "found" || octetsOf(answer.records) <= TEXTS_MAX_OCTETS) return answer;
  const records = answer.records.filter((text) => TAGGED.test(text));
  if (records.length <= 2 || octetsOf(records) <= TEXTS_MAX_OCTETS) return { ...answer, records };
  return { kind: "unknown", why: "malformed" };
}

const octetsOf = (texts: readonly string[]): number =>
  texts.reduce((sum, text) => sum + text.length, 0);

/**
 * The same lookup for the checks of one entry: each question is asked once however many checks need it and is
 * counted then. Names that cannot exist and special-use names (RFC 6761) count as absent without a question.
 */
export function sharedLookup(lookup: Lookup, count: QuestionCount): Lookup {
  const once = <T>(questions: number, ask: (name: string) => Awaitable<Answer<T>>) => {
    const answers = new Map<string, Awaitable<Answer<T>>>();
    return (name: string): Awaitable<Answer<T>> => {
      if (!isAskable(name)) return NO_NAME;
      const known = answers.get(name);
      if (known !== undefined) return known;
      count.asked += questions;
      const answer = ask(name);
      answers.set(name, answer);
      return answer;
    };
  };
  return {
    mx: once(1, (name) => lookup.mx(name)),
    addresses: once(2, (host) => lookup.addresses(host)),
    txt: once(1, (name) => {
      const answer = lookup.txt(name);
      return answer instanceof Promise ? answer.then(withoutBulk) : withoutBulk(answer);
    }),
    registration: once(0, (name) => lookup.registration(name)),
  };
}

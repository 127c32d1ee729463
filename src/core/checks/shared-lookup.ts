import { isSpecialUse } from "../domain.ts";
import type { Absent, Answer, Awaitable, Lookup } from "../lookup.ts";

/** DNS questions asked so far, as they would go over the wire: an address question is two, A and AAAA. */
export interface QuestionCount {
  asked: number;
}

const NO_NAME: Absent = { kind: "absent", why: "noName" };

/**
 * The same lookup for the checks of one entry: each question is asked once however many checks need it and is
 * counted then, and special-use names are never asked in DNS (RFC 6761), whoever leads there.
 */
export function sharedLookup(lookup: Lookup, count: QuestionCount): Lookup {
  const once = <T>(questions: number, ask: (name: string) => Awaitable<Answer<T>>) => {
    const answers = new Map<string, Awaitable<Answer<T>>>();
    return (name: string): Awaitable<Answer<T>> => {
      if (isSpecialUse(name)) return NO_NAME;
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
    txt: once(1, (name) => lookup.txt(name)),
    registration: once(0, (name) => lookup.registration(name)),
  };
}

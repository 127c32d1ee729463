import type { CheckDeps, CheckRun, CheckOutcome, CheckedSubject } from "./check.ts";
import type { Datasets } from "../evidence/datasets.ts";
import { CHECKS, type Feature, type PremiumFields } from "./registry.ts";
import { checkSpamTrap } from "./spam-trap.ts";
import { DOMAIN_MAX_OCTETS, isSpecialUse } from "../name/domain.ts";
import type { Absent, Answer, Awaitable, Lookup } from "../mail/lookup.ts";

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

/** Asks each question once. Names that cannot exist and special-use names are absent without a question. */
export function sharedLookup(lookup: Lookup, count: { asked: number }): Lookup {
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

export interface RequestedChecks {
  readonly features: readonly Feature[];
  readonly spamTrap: boolean;
  /** Whose share of what may be asked of DNS and registries at once it takes; absent: the program's own. */
  readonly by?: string;
}

export interface CheckResults {
  readonly fields: PremiumFields;
  readonly unavailable: readonly Feature[];
  readonly freshDomain: boolean;
}

export const NOTHING_ASKED: CheckResults = { fields: {}, unavailable: [], freshDomain: false };

export const QUESTIONS_MAX = CHECKS.reduce((sum, { questions }) => sum + questions, 0);

export function withoutFeatures(
  { spamTrap }: RequestedChecks,
  subject: CheckedSubject,
  datasets: Datasets,
): CheckResults {
  if (!spamTrap) return NOTHING_ASKED;
  const fields = { spam_trap: checkSpamTrap(subject, datasets) };
  return { fields, unavailable: [], freshDomain: false };
}

/** Runs the asked checks beside each other; never throws for what DNS or a registry says. */
export async function runChecks(
  asked: RequestedChecks,
  subject: CheckedSubject,
  deps: CheckDeps,
): Promise<CheckResults> {
  const trap = withoutFeatures(asked, subject, deps.datasets).fields;
  const running = start(asked.features, subject, deps);
  const fields = { ...trap, ...(await gather(running.values())) };
  const unavailable: Feature[] = [];
  for (const feature of asked.features) {
    if ((await running.get(feature)) === "unavailable") unavailable.push(feature);
  }
  return { fields, unavailable, freshDomain: fields.domain_age?.fresh === true };
}

type Ending = Promise<CheckOutcome<Readonly<Record<string, unknown>>>>;

function start(
  asked: readonly Feature[],
  subject: CheckedSubject,
  deps: CheckDeps,
): ReadonlyMap<Feature, Ending> {
  const running = new Map<Feature, Ending>();
  const asking: Ending[] = [];
  const questions = { asked: 0 };
  const lookup = sharedLookup(deps.lookup, questions);
  for (const check of CHECKS) {
    if (!asked.includes(check.name)) continue;
    const before = [...running.values()];
    const askingBefore = [...asking];
    const run: CheckRun<PremiumFields> = {
      ...deps,
      lookup,
      within: (milliseconds) => sharedLookup(deps.within(milliseconds), questions),
      obtained: () => gather(before),
      questionsLeft: async () => {
        await Promise.all(askingBefore);
        return Math.max(0, QUESTIONS_MAX - questions.asked);
      },
    };
    const ending = check.run(subject, run);
    running.set(check.name, ending);
    if (check.questions > 0) asking.push(ending);
  }
  return running;
}

/** The fields of all, once they have ended; the members of an object that two checks send stand side by side. */
async function gather(endings: Iterable<Ending>): Promise<PremiumFields> {
  const fields: Record<string, unknown> = {};
  for (const ending of await Promise.all(endings)) {
    if (ending === "unavailable") continue;
    for (const [name, value] of Object.entries(ending)) {
      const known = fields[name];
      fields[name] = isObject(known) && isObject(value) ? { ...known, ...value } : value;
    }
  }
  return fields;
}

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

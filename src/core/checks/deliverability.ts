import type { MailHosts } from "../mail/mail-hosts.ts";
import { Type } from "../json-schema.ts";
import {
  type Advised,
  type Check,
  type CheckRun,
  type FieldsOf,
  NOT_NOW,
  type CheckOutcome,
  type CheckedSubject,
  type AdviceWords,
} from "./check.ts";
import type { DkimFields } from "./dkim/dkim.ts";
import {
  type Dmarc,
  type DmarcFields,
  type DmarcPolicy,
  isIgnored,
  LOWER,
  parsePolicyRecord,
} from "./dmarc/dmarc.ts";
import type { DomainAgeFields } from "./domain-age.ts";
import type { SpfFields, SpfSummary } from "./spf/spf.ts";

const FIELDS = {
  deliverability_score: Type.Integer({
    description: "Of the mail set-up (`deliverability`); neither a probability nor a mailbox test.",
    minimum: 0,
    maximum: 100,
  }),
};
type DeliverabilityFields = FieldsOf<typeof FIELDS>;

type Inputs = SpfFields & DkimFields & DmarcFields & DomainAgeFields;

/** What each input counts; `docs/premium.md` is held against this table by a test. */
export const WEIGHTS = { mx: 30, spf: 20, dkim: 20, dmarc: 20, age: 10 } as const;

export const SPF_VALUES: Readonly<Record<SpfSummary, number>> = {
  hardfail: 1,
  softfail: 0.8,
  neutral: 0.4,
  none: 0,
  pass: 0, // "anybody may send" protects no more than no record
};

export const DKIM_VALUES = { found: 1, notFound: 0.25 } as const;

/** `none` with reports asked for is worth more: its owner is watching. */
export const DMARC_VALUES = {
  reject: 1,
  quarantine: 0.8,
  noneWithReports: 0.5,
  none: 0.4,
  noRecord: 0,
} as const;

/** Younger than this many days: that value; older: 1. */
export const AGE_VALUES: readonly (readonly [belowDays: number, value: number])[] = [
  [7, 0],
  [30, 0.2],
  [90, 0.5],
  [180, 0.7],
  [365, 0.85],
];

function dmarcValue({ policy, record, pct = 100, rua }: Dmarc): number {
  const published = record === undefined ? undefined : parsePolicyRecord(record);
  if (published === undefined || isIgnored(published)) return DMARC_VALUES.noRecord;
  const value = (step: DmarcPolicy): number =>
    step === "none" && rua !== undefined ? DMARC_VALUES.noneWithReports : DMARC_VALUES[step];
  return (value(policy) * pct + value(LOWER[policy]) * (100 - pct)) / 100;
}

type WeightedInput = readonly [weight: number, value: number];

/** The weighted mean of what was asked for and obtained, 0 to 100. Improving one input never lowers it. */
export function scoreOf(mail: MailHosts, fields: Inputs): number | undefined {
  if (mail.kind === "unknown") return undefined;
  if (mail.kind === "none") return 0;
  const inputs = inputsOf(fields, mail.implicit ? 0.5 : 1);
  const most = inputs.reduce((sum, [weight]) => sum + weight, 0);
  const points = inputs.reduce((sum, [weight, value]) => sum + weight * value, 0);
  // To ten digits first, so that 0.1 + 0.2 does not decide which way a half is rounded.
  return Math.round(Number(((100 * points) / most).toFixed(10)));
}

function inputsOf({ email_auth: auth = {}, domain_age: age }: Inputs, mx: number): WeightedInput[] {
  const inputs: WeightedInput[] = [[WEIGHTS.mx, mx]];
  if (auth.spf !== undefined) inputs.push([WEIGHTS.spf, SPF_VALUES[auth.spf]]);
  if (auth.dkim_configured !== undefined) {
    inputs.push([WEIGHTS.dkim, DKIM_VALUES[auth.dkim_configured ? "found" : "notFound"]]);
  }
  if (auth.dmarc !== undefined) inputs.push([WEIGHTS.dmarc, dmarcValue(auth.dmarc)]);
  if (age !== undefined)
    inputs.push([WEIGHTS.age, AGE_VALUES.find(([below]) => age.age_days < below)?.[1] ?? 1]);
  return inputs;
}

async function run(
  { mail }: CheckedSubject,
  { obtained }: CheckRun<Inputs>,
): Promise<CheckOutcome<DeliverabilityFields>> {
  const score = scoreOf(mail, await obtained());
  return score === undefined ? "unavailable" : { deliverability_score: score };
}

const GOOD_SCORE = 80;
const FAIR_SCORE = 50;

function advise({
  domain,
  dns,
  deliverability_score: score,
}: Advised & DeliverabilityFields): AdviceWords {
  if (score === undefined) return NOT_NOW;
  const figure = `${score} of 100`;
  if (!dns) {
    return {
      state: "bad",
      says: "The domain has no mail server, so no mail can reach it: 0 of 100.",
      fix: `If ${domain} is to receive mail, publish the MX records that your mail provider names.`,
      figure,
    };
  }
  const says = `The domain's set-up for mail reaches ${score} of 100 points.`;
  if (score >= GOOD_SCORE) return { state: "good", says, figure };
  const fix = "Follow the advice on the other checks; each one you set right raises the score.";
  return { state: score >= FAIR_SCORE ? "warn" : "bad", says, fix, figure };
}

export const deliverability: Check<"deliverability", typeof FIELDS, Inputs> = {
  name: "deliverability",
  title: "Mail set-up",
  about: "A score from 0 to 100 of the mail set-up; ask for the others too.",
  fields: FIELDS,
  questions: 0,
  run,
  advise,
};

import { parsePolicyRecord, isIgnored } from "../checks/dmarc-record.ts";
import type { Advice, Advised, Words } from "./advice-words.ts";
import type { DmarcFields, DomainAge, EmailAuth, Feature, SpamTrap } from "../checks/check.ts";
import { spfAdvice } from "./spf-advice.ts";

/** What was asked for and permitted, and what of it could not finish. */
export interface AdviceScope {
  readonly features: readonly Feature[];
  readonly unavailable: readonly Feature[];
}

/** One piece of advice for each asked check, in the order asked; the spam trap, where judged, at the end. */
export function advise(result: Advised, { features, unavailable }: AdviceScope): readonly Advice[] {
  const pieces = features.map((check): Advice => {
    if (unavailable.includes(check)) return { check, ...NOT_NOW };
    return { check, ...(ADVISERS[check](result) ?? NOTHING_TO_SAY[check]) };
  });
  const { spam_trap: trap } = result;
  return trap === undefined ? pieces : [...pieces, { check: "spam_trap", ...trapAdvice(trap) }];
}

const NOT_NOW: Words = {
  state: "unknown",
  says: "This could not be looked up just now. Try again in a few minutes.",
};

/** For checks that ended without a field. */
const NOTHING_TO_SAY: Readonly<Record<Feature, Words>> = {
  spf: NOT_NOW,
  dkim: NOT_NOW,
  dmarc: NOT_NOW,
  domain_age: {
    state: "unknown",
    says: "The registry of this domain does not say when it was registered.",
  },
  inbox_provider: {
    state: "unknown",
    says: "The mail of this domain is not kept by a provider we recognise.",
  },
  deliverability: NOT_NOW,
};

/** Undefined when the result holds no field of the check. */
const ADVISERS: Readonly<Record<Feature, (result: Advised) => Words | undefined>> = {
  spf: spfAdvice,
  dkim: ({ domain, inbox_provider: provider, email_auth: auth = {} }) =>
    dkimAdvice(auth, domain, provider),
  dmarc: ({ domain, email_auth: { dmarc } = {} }) => dmarc && dmarcAdvice(dmarc, domain),
  domain_age: ({ domain_age: age }) => age && ageAdvice(age),
  inbox_provider: ({ inbox_provider: provider }) =>
    provider === undefined ? undefined : { state: "good", says: `Mail is kept by ${provider}.` },
  deliverability: (result) => scoreAdvice(result),
};

function dkimAdvice(
  { dkim_configured: configured, dkim_selectors_found: found = [] }: EmailAuth,
  domain: string,
  provider = "your mail provider",
): Words | undefined {
  if (configured === undefined) return undefined;
  if (configured) {
    const names = found.join(", ");
    return { state: "good", says: `Messages can carry a signature (DKIM): found ${names}.` };
  }
  return {
    state: "warn",
    says: "No signature key (DKIM) was found in the usual places. It may be in a place that nobody can guess.",
    fix: `Switch DKIM on at ${provider} and at every service that sends for you, and publish the record each one shows you, at a name that ends in ._domainkey.${domain}.`,
  };
}

function dmarcAdvice(fields: DmarcFields, domain: string): Words {
  const { record } = fields;
  const at = `the TXT record at _dmarc.${domain}`;
  const start = `Set ${at} to: v=DMARC1; p=none; rua=mailto:dmarc-reports@${domain}`;
  if (record === undefined) {
    return {
      state: "bad",
      says: "Nothing tells receivers what to do with mail that forges this domain (no DMARC). Gmail and Yahoo ask bulk senders for it.",
      fix: start,
    };
  }
  const published = parsePolicyRecord(record);
  if (isIgnored(published)) {
    return {
      state: "bad",
      says: "There is a DMARC record, but it has a mistake and receivers pass over it.",
      fix: start,
    };
  }
  if (fields.policy === "none") return watchingAdvice(fields, { domain, at });
  const action = fields.policy === "reject" ? "refused" : "put into the spam folder";
  const { pct = 100 } = fields;
  if (published.testing || pct < 100) {
    return {
      state: "warn",
      says: "The rule against forged mail (DMARC) is published, but applies to a part of the mail or as a test only.",
      fix: `Once the reports look right, take t=y and pct= out of ${at}.`,
    };
  }
  return { state: "good", says: `Mail that forges this domain is ${action} (DMARC).` };
}

function watchingAdvice(
  { rua }: DmarcFields,
  { domain, at }: { readonly domain: string; readonly at: string },
): Words {
  if (rua === undefined) {
    return {
      state: "warn",
      says: "Forged mail is let through, and nobody tells you of it (DMARC says none, without reports).",
      fix: `Add rua=mailto:dmarc-reports@${domain} to ${at}, read the reports, then raise p=none to p=quarantine.`,
    };
  }
  return {
    state: "warn",
    says: "Forged mail is only watched, not stopped (DMARC says none).",
    fix: `When the reports name all your own senders, raise p=none to p=quarantine in ${at}, later to p=reject.`,
  };
}

function ageAdvice({ registered, age_days: days, fresh }: DomainAge): Words {
  const since = `The domain was registered on ${registered}`;
  if (!fresh) return { state: "good", says: `${since}, ${days} days ago.` };
  const ago = days === 0 ? "today" : days === 1 ? "a day ago" : `${days} days ago`;
  return {
    state: "warn",
    says: `${since}, ${ago}. Receivers trust such young domains little, and many of them are thrown away soon.`,
    fix: "Send little at first, to people who answer, and raise the volume over some weeks.",
  };
}

const GOOD_SCORE = 80;
const FAIR_SCORE = 50;

function scoreAdvice({ domain, dns, deliverability_score: score }: Advised): Words | undefined {
  if (score === undefined) return undefined;
  if (!dns) {
    return {
      state: "bad",
      says: "The domain has no mail server, so no mail can reach it: 0 of 100.",
      fix: `If ${domain} is to receive mail, publish the MX records that your mail provider names.`,
    };
  }
  const says = `The domain is set up for ${score} of 100.`;
  if (score >= GOOD_SCORE) return { state: "good", says };
  const fix = "Follow the advice on the other checks; each one you set right raises the score.";
  return { state: score >= FAIR_SCORE ? "warn" : "bad", says, fix };
}

function trapAdvice({ is_trap: isTrap, reason }: SpamTrap): Words {
  if (!isTrap) {
    return {
      state: "good",
      says: "No sign of a spam trap. Traps are secret, so this proves nothing.",
    };
  }
  return {
    state: "bad",
    says: `This looks like a spam trap. ${reason ?? ""}`.trim(),
    fix: "Do not send to it, and look where it came from: such entries come from bought, old or mistyped lists.",
  };
}

import { type Described, oneOf, strict, Type } from "../../json-schema.ts";
import { type Advised, AUTH, type FieldsOf, NOT_NOW, type Words } from "../check.ts";
import { isIgnored, parsePolicyRecord } from "./dmarc-record.ts";

const text = (description: string) => Type.Optional(Type.String({ description }));

const Dmarc = Type.Object(
  {
    policy: oneOf(
      ["none", "quarantine", "reject"],
      "As it applies to the asked domain (RFC 9989); `none` alone when nothing is published.",
    ),
    record: text("The record, cut at 4,096 characters."),
    subdomain_policy: text("The policy for sub-domains."),
    pct: Type.Optional(
      Type.Integer({ description: "As published, else 100.", minimum: 0, maximum: 100 }),
    ),
    rua: text("Where aggregate reports go, cut at 4,096 characters."),
  },
  strict,
);
export type Dmarc = Described<typeof Dmarc>;

export const DMARC_FIELDS = {
  email_auth: Type.Object({ dmarc: Type.Optional(Dmarc) }, { ...strict, description: AUTH }),
};
export type DmarcFields = FieldsOf<typeof DMARC_FIELDS>;

/** What the DMARC fields of a result mean to the domain's owner. */
export function dmarcAdvice({ domain, email_auth: { dmarc } = {} }: Advised & DmarcFields): Words {
  if (dmarc === undefined) return NOT_NOW;
  const { policy, record } = dmarc;
  return { ...meaning(dmarc, domain), figure: policy, ...(record !== undefined && { record }) };
}

function meaning(fields: Dmarc, domain: string): Words {
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
  { rua }: Dmarc,
  { domain, at }: { readonly domain: string; readonly at: string },
): Words {
  if (rua === undefined) {
    return {
      state: "warn",
      says: "Forged mail is let through, and you get no reports of it (DMARC says none).",
      fix: `Add rua=mailto:dmarc-reports@${domain} to ${at}, read the reports, then raise p=none to p=quarantine.`,
    };
  }
  return {
    state: "warn",
    says: "Forged mail is only watched, not stopped (DMARC says none).",
    fix: `When the reports name all your own senders, raise p=none to p=quarantine in ${at}, later to p=reject.`,
  };
}

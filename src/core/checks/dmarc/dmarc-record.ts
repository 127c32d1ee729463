import { parseTagList } from "../tag-list.ts";
import { type Described, Type, oneOf, strict } from "../../json-schema.ts";
import { AUTH, type Advised, type FieldsOf, NOT_NOW, type Words } from "../check.ts";

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

export type Policy = "none" | "quarantine" | "reject";

/** One DMARC policy record (RFC 9989 section 4.7), its defaults not yet filled in. */
export interface PolicyRecord {
  /** As published. */
  readonly text: string;
  readonly p: Policy | undefined;
  readonly sp: Policy | undefined;
  readonly np: Policy | undefined;
  /** Whose name this is: a registry's ("y"), an organization's ("n"), or unstated ("u"). */
  readonly psd: "y" | "n" | "u";
  /** "t=y": receivers are asked to apply one policy lower. */
  readonly testing: boolean;
  /** 0 to 100. RFC 9989 dropped the tag; receivers of the old kind still read it (RFC 7489 section 6.3). */
  readonly pct: number;
  /** As published; absent when empty. */
  readonly rua: string | undefined;
  /** "broken": `p`, `sp` or `np` has an invalid policy (RFC 9989 section 4.10.1). */
  readonly state: "valid" | "broken";
}

/** Whether a text is a policy record: the version stands first, "v" in any case and "DMARC1" as it is (RFC 9989 section 4.7). */
export function isDmarcText(text: string): boolean {
  return /^[vV][ \t]*=[ \t]*DMARC1[ \t]*(?:;|$)/.test(text);
}

/**
 * Reads a record that `isDmarcText` accepted. Unknown tags and broken pieces are passed over, as receivers
 * must (RFC 9989 section 4.7); of a repeated tag the first counts. Never throws; linear in its length.
 */
export function parsePolicyRecord(text: string): PolicyRecord {
  const { tags } = parseTagList(text);
  const policies = (["p", "sp", "np"] as const).map((name) => readPolicy(tags.get(name)));
  const [p, sp, np] = policies.map((policy) => (policy === "broken" ? undefined : policy));
  const rua = tags.get("rua");
  return {
    text,
    p,
    sp,
    np,
    psd: readPsd(tags.get("psd")),
    testing: tags.get("t")?.toLowerCase() === "y",
    pct: readPct(tags.get("pct")),
    rua: rua === "" ? undefined : rua,
    state: policies.includes("broken") ? "broken" : "valid",
  };
}

function readPolicy(value: string | undefined): Policy | "broken" | undefined {
  const lower = value?.toLowerCase();
  if (lower === undefined) return undefined;
  return lower === "none" || lower === "quarantine" || lower === "reject" ? lower : "broken";
}

function readPsd(value: string | undefined): "y" | "n" | "u" {
  const lower = value?.toLowerCase();
  return lower === "y" || lower === "n" ? lower : "u";
}

function readPct(value: string | undefined): number {
  const pct = value !== undefined && /^\d{1,3}$/.test(value) ? Number(value) : 100;
  return pct <= 100 ? pct : 100;
}

/** A scheme, something behind it, and the size limit of RFC 7489 section 6.2 that some still write. */
const REPORT_URI = /^[A-Za-z][A-Za-z0-9+.-]*:[^\s,!;"<>\\^`{|}]+(?:!\d+[KMGTkmgt]?)?$/;

/** More destinations than a receiver reports to. */
const REPORT_URIS_MAX = 20;

/** Whether `rua` names a place to report to, which makes a broken record count as "none" (RFC 9989 section 4.10.1). */
function hasReportUri(rua: string | undefined): boolean {
  if (rua === undefined) return false;
  return rua.split(",", REPORT_URIS_MAX).some((uri) => REPORT_URI.test(uri.trim()));
}

/** Whether receivers act as though there were no record (RFC 9989 section 4.10.1). */
export function isIgnored({ state, rua }: PolicyRecord): boolean {
  return state === "broken" && !hasReportUri(rua);
}

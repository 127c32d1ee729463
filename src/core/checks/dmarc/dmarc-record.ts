import { parseTagList } from "../tag-list.ts";

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

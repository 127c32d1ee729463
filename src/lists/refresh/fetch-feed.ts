import type { HttpReply, Outbound } from "../../outbound/outbound-types.ts";
import type { RefreshOutcome } from "../feed-refresh.ts";
import type { CopyHead } from "../files/feed-copy.ts";

/** What the source answered: a file to test, or an outcome already. */
export type FetchAnswer =
  | {
      readonly kind: "file";
      readonly body: Uint8Array;
      readonly etag?: string;
      readonly lastModified?: string;
    }
  | { readonly kind: "outcome"; readonly outcome: RefreshOutcome };

const FETCH_MS = 60_000;
const BYTES_MAX = 16 * 1_048_576;
const REDIRECTS_MAX = 3;

/** Validators longer than this are not sent back. */
const VALIDATOR_MAX = 300;

/** Asks for one list, on condition that it changed since `last` (RFC 9110 section 13.1). Never rejects. */
export async function fetchList(
  id: string,
  url: string,
  last: Pick<CopyHead, "etag" | "lastModified"> | undefined,
  http: Outbound["http"],
): Promise<FetchAnswer> {
  const conditions = {
    ...(last?.etag !== undefined && { "If-None-Match": last.etag }),
    ...(last?.lastModified !== undefined && { "If-Modified-Since": last.lastModified }),
  };
  const result = await http({
    url,
    method: "GET",
    headers: { Accept: "*/*", "User-Agent": "gatepost", ...conditions },
    timeoutMs: FETCH_MS,
    maxBodyBytes: BYTES_MAX,
    maxRedirects: REDIRECTS_MAX,
  });
  if (result.ok) return readReply(id, result.value, last !== undefined);
  const detail = [result.fault, result.detail].filter((word) => word !== undefined).join(" ");
  return outcome({ id, kind: "refused", why: "not_fetched", detail });
}

const outcome = (its: RefreshOutcome): FetchAnswer => ({ kind: "outcome", outcome: its });

function readReply(id: string, reply: HttpReply, hasCopy: boolean): FetchAnswer {
  const { status, headers, body, cut } = reply;
  if (status === 304 && hasCopy) return outcome({ id, kind: "unchanged" });
  if (status !== 200) {
    return outcome({ id, kind: "refused", why: "bad_status", detail: String(status) });
  }
  if (cut) return outcome({ id, kind: "refused", why: "too_large" });
  const etag = validator(headers["etag"]);
  const lastModified = validator(headers["last-modified"]);
  return {
    kind: "file",
    body,
    ...(etag !== undefined && { etag }),
    ...(lastModified !== undefined && { lastModified }),
  };
}

const validator = (text: string | undefined): string | undefined =>
  text !== undefined && text.length <= VALIDATOR_MAX && /^[ -~]+$/.test(text) ? text : undefined;

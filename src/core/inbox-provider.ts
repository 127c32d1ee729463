import { INBOX_PROVIDERS, type MailHostKind, type ProviderRow } from "./tables/inbox-providers.ts";

/** Who runs a mail host. */
export interface InboxProvider {
  readonly provider: string;
  readonly kind: MailHostKind;
}

const BY_SUFFIX: ReadonlyMap<string, ProviderRow> = new Map(
  INBOX_PROVIDERS.flatMap((row) => row.suffixes.map((suffix) => [suffix, row] as const)),
);

/** The first labels of suffixes whose second label is "*": only below them is the wildcard tried. */
const WILDCARD_HEADS: ReadonlySet<string> = new Set(
  [...BY_SUFFIX.keys()]
    .filter((suffix) => suffix.includes(".*."))
    .map((suffix) => suffix.slice(0, suffix.indexOf("."))),
);

/** "head.*.tail" for "head.any.tail"; undefined where no suffix of the table has that head. */
function wildcardOf(suffix: string): string | undefined {
  const first = suffix.indexOf(".");
  const second = first < 0 ? -1 : suffix.indexOf(".", first + 1);
  if (second < 0) return undefined;
  const head = suffix.slice(0, first);
  return WILDCARD_HEADS.has(head) ? `${head}.*${suffix.slice(second)}` : undefined;
}

function rowOf(suffix: string): ProviderRow | undefined {
  const exact = BY_SUFFIX.get(suffix);
  if (exact !== undefined) return exact;
  const wildcard = wildcardOf(suffix);
  return wildcard === undefined ? undefined : BY_SUFFIX.get(wildcard);
}

/**
 * The service behind a mail host (lower case, no trailing dot): the longest known suffix wins, on label
 * boundaries; undefined when none is known. Of two equally long suffixes the one without "*" wins.
 */
export function providerOfHost(host: string): InboxProvider | undefined {
  for (let at = 0; at >= 0; at = afterDot(host, at)) {
    const row = rowOf(at === 0 ? host : host.slice(at));
    if (row !== undefined) return row;
  }
  return undefined;
}

function afterDot(text: string, from: number): number {
  const dot = text.indexOf(".", from);
  return dot < 0 ? -1 : dot + 1;
}

import { nextLabel } from "../name/domain.ts";
import type { MailHosts } from "./mail-hosts.ts";
import { INBOX_PROVIDERS, type MailHostKind, type ProviderRow } from "../tables/data.ts";

/** Who runs a mail host. */
export interface InboxProvider {
  readonly provider: string;
  readonly kind: MailHostKind;
}

/** What the table says at one suffix of a host, from its last labels. */
interface Node {
  row?: ProviderRow;
  /** By the label two to the left: "inbound-smtp" at "amazonaws.com" for "inbound-smtp.*.amazonaws.com". */
  wildcards?: Map<string, ProviderRow>;
}

const NODES: ReadonlyMap<string, Node> = nodesOf(INBOX_PROVIDERS);

function nodesOf(rows: readonly ProviderRow[]): ReadonlyMap<string, Node> {
  const nodes = new Map<string, Node>();
  const at = (suffix: string): Node => {
    const node = nodes.get(suffix) ?? {};
    nodes.set(suffix, node);
    return node;
  };
  for (const row of rows) {
    for (const suffix of row.suffixes) {
      const [head = "", tail] = suffix.split(".*.");
      if (tail === undefined) at(suffix).row = row;
      else (at(tail).wildcards ??= new Map()).set(head, row);
    }
  }
  return nodes;
}

/**
 * The service behind a mail host (lower case, no trailing dot): the longest known suffix wins, on label
 * boundaries; undefined when none is known. Of two equally long suffixes the one without "*" wins.
 */
export function providerOfHost(host: string): InboxProvider | undefined {
  for (let start = 0; start >= 0; start = nextLabel(host, start)) {
    const node = NODES.get(start === 0 ? host : host.slice(start));
    if (node === undefined) continue;
    const row = node.row ?? node.wildcards?.get(labelBeforeLast(host, start));
    if (row !== undefined) return row;
  }
  return undefined;
}

/** Who runs the most preferred mail host that anybody knows; undefined when none is known. */
export function providerOfMail(mail: MailHosts): InboxProvider | undefined {
  if (mail.kind !== "hosts" || mail.implicit) return undefined;
  for (const host of mail.hosts) {
    const known = providerOfHost(host);
    if (known !== undefined) return known;
  }
  return undefined;
}

/** The label two to the left of `start`: "head" of "head.any.tail" where "tail" starts; "" for none. */
function labelBeforeLast(host: string, start: number): string {
  const any = host.lastIndexOf(".", start - 2);
  return any < 0 ? "" : host.slice(host.lastIndexOf(".", any - 1) + 1, any);
}

import { providerOfMail } from "../mail/inbox-provider.ts";
import type { Lookup } from "../mail/lookup.ts";
import { SPF_INCLUDES } from "../tables/spf-includes.ts";
import type { Check, CheckRun, Outcome, Subject } from "./check.ts";
import { fetchSpf } from "./spf.ts";
import { parseSpf } from "./spf-record.ts";

/** The mailbox provider whose senders a record lets in by name; the likeliest of several. Does not recurse. */
export function mailboxInSpf(text: string): string | undefined {
  const parsed = parseSpf(text);
  if (!parsed.ok) return undefined;
  const { includes, redirect } = parsed.record;
  const named = redirect === undefined ? includes : [...includes, redirect];
  const targets = new Set(named.map((target) => target.toLowerCase().replace(/\.$/, "")));
  return SPF_INCLUDES.find(([, known]) => known.some((target) => targets.has(target)))?.[0];
}

/** `provider` is undefined when nobody is recognised; "unknown" when SPF would have to tell and could not. */
export type ProviderFound =
  { readonly kind: "known"; readonly provider: string | undefined } | { readonly kind: "unknown" };

/**
 * The service that keeps the mail: by mail host, and behind a filtering gateway by the domain's own SPF record,
 * else the gateway's name.
 */
export async function findInboxProvider(
  { domain, mail }: Subject,
  lookup: Pick<Lookup, "txt">,
): Promise<ProviderFound> {
  if (mail.kind === "unknown") return { kind: "unknown" };
  const known = providerOfMail(mail);
  if (known?.kind !== "gateway") return { kind: "known", provider: known?.provider };
  const own = await fetchSpf(domain.name, lookup);
  if (own.kind === "unknown") return { kind: "unknown" };
  const behind = own.kind === "one" ? mailboxInSpf(own.text) : undefined;
  return { kind: "known", provider: behind ?? known.provider };
}

async function run(
  subject: Subject,
  { lookup }: CheckRun,
): Promise<Outcome<{ readonly inbox_provider: string }>> {
  const found = await findInboxProvider(subject, lookup);
  if (found.kind === "unknown") return { kind: "unavailable" };
  return found.provider === undefined
    ? { kind: "nothing" }
    : { kind: "done", fields: { inbox_provider: found.provider } };
}

/** `inbox_provider`. At most one DNS question, the SPF one. */
export const inboxProvider: Check<{ readonly inbox_provider: string }> = { run };

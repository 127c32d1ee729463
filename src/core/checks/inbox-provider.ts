import { providerOfMail } from "../mail/mail-hosts.ts";
import type { Lookup } from "../mail/lookup.ts";
import { SPF_INCLUDES } from "../tables/data.ts";
import { Type } from "../json-schema.ts";
import type {
  Advised,
  Check,
  CheckRun,
  FieldsOf,
  CheckOutcome,
  CheckedSubject,
  AdviceWords,
} from "./check.ts";
import { fetchSpf } from "./spf/spf.ts";
import { parseSpf } from "./spf/spf-record.ts";

const FIELDS = {
  inbox_provider: Type.String({
    description: "By MX, or by SPF behind a gateway (`inbox_provider`).",
  }),
};
export type InboxProviderFields = FieldsOf<typeof FIELDS>;

/** The mailbox provider whose senders a record lets in by name; the likeliest of several. Does not recurse. */
export function mailboxInSpf(text: string): string | undefined {
  const parsed = parseSpf(text);
  if (!parsed.ok) return undefined;
  const { includes, redirect } = parsed.record;
  const named = redirect === undefined ? includes : [...includes, redirect];
  const targets = new Set(named.map((target) => target.toLowerCase().replace(/\.$/, "")));
  return SPF_INCLUDES.find(([, known]) => known.some((target) => targets.has(target)))?.[0];
}

/** `provider` is undefined if none is recognised; "unknown" if only SPF could tell and did not answer. */
export type ProviderFound =
  { readonly kind: "known"; readonly provider: string | undefined } | { readonly kind: "unknown" };

/** By mail host, and behind a filtering gateway by the domain's own SPF record, else the gateway's name. */
export async function findInboxProvider(
  { domain, mail }: CheckedSubject,
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
  subject: CheckedSubject,
  { lookup }: CheckRun,
): Promise<CheckOutcome<InboxProviderFields>> {
  const found = await findInboxProvider(subject, lookup);
  if (found.kind === "unknown") return { kind: "unavailable" };
  return found.provider === undefined
    ? { kind: "nothing" }
    : { kind: "done", fields: { inbox_provider: found.provider } };
}

function advise({ inbox_provider: provider }: Advised & InboxProviderFields): AdviceWords {
  return provider === undefined
    ? { state: "unknown", says: "The mail of this domain is not kept by a provider we recognise." }
    : { state: "good", says: `Mail is kept by ${provider}.`, figure: provider };
}

export const inboxProvider: Check<"inbox_provider", typeof FIELDS> = {
  name: "inbox_provider",
  title: "Mailbox provider",
  about: "Who keeps the mail.",
  fields: FIELDS,
  questions: 0, // at most SPF's own
  run,
  advise,
};

import { providerOfMail } from "../mail/mail-hosts.ts";
import type { Lookup } from "../mail/lookup.ts";
import { SPF_INCLUDES } from "../tables/data.ts";
import { Type } from "../json-schema.ts";
import type {
  Advised,
  Check,
  FieldsOf,
  CheckOutcome,
  CheckedSubject,
  AdviceWords,
} from "./check.ts";
import { fetchSpf, parseSpf } from "./spf/spf.ts";

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

/** The mail host tells, and behind a filtering gateway the domain's own SPF record, else the gateway's name. */
export async function findInboxProvider(
  { domain, mail }: CheckedSubject,
  lookup: Pick<Lookup, "txt">,
): Promise<CheckOutcome<InboxProviderFields>> {
  if (mail.kind === "unknown") return "unavailable";
  const known = providerOfMail(mail);
  if (known === undefined) return {};
  if (known.kind !== "gateway") return { inbox_provider: known.provider };
  const texts = await fetchSpf(domain.name, lookup);
  if (texts === "unknown") return "unavailable";
  const [text = ""] = texts;
  const behind = texts.length === 1 ? mailboxInSpf(text) : undefined;
  return { inbox_provider: behind ?? known.provider };
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
  run: (subject, { lookup }) => findInboxProvider(subject, lookup),
  advise,
};

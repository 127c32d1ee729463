import { badField, notFound } from "../../base/refusals.ts";
import { dayOfDate } from "../../core/calendar.ts";
import { LIST_WORDS, type ListWord } from "../../core/evidence/rule.ts";
import { entryJson, type Rule } from "../../lists/rules/entry-json.ts";
import { type EntryDetails, NOTE_MAX, endOfDay } from "../../lists/rules/rules.ts";
import {
  admin,
  type DashboardServices,
  type Reader,
  optional,
  type SignedInRequest,
  bodyText,
  wholeField,
  wordField,
} from "./route.ts";

const entryField = bodyText(2_000);
const kindField = wordField(LIST_WORDS, `An entry says one of: ${LIST_WORDS.join(", ")}.`);

/** The last day that it counts, YYYY-MM-DD in UTC; undefined: it does not end. */
const expiresField: Reader<number | undefined> = (value, name) => {
  if (value === undefined || value === null) return undefined;
  const day = dayOfDate(bodyText(10)(value, name));
  if (day === undefined) throw badField("The last day is a date such as 2027-01-31.");
  return endOfDay(day);
};

const DETAILS = { note: bodyText(NOTE_MAX), expires: expiresField };

type Details = SignedInRequest<{ readonly note: string; readonly expires: number | undefined }>;

const detailsOf = ({
  body: { note, expires },
  account: { id: author },
}: Details): EntryDetails => ({
  note: note.trim(),
  author,
  ...(expires !== undefined && { expiresAtMs: expires }),
});

const wordOf = (text: string | undefined): ListWord | undefined =>
  LIST_WORDS.find((known) => known === text);

async function authorsOf(
  entries: readonly Rule[],
  accounts: DashboardServices["accounts"],
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  for (const id of new Set(entries.map(({ author }) => author))) {
    const account = /^[0-9a-f]{32}$/.test(id) ? await accounts.find(id) : undefined;
    if (account !== undefined) names.set(id, account.email);
  }
  return names;
}

const noted = ({ operator }: DashboardServices, { note }: SignedInRequest) => operator.by(note);

export const ruleRoutes = [
  admin("GET admin/lists/entries", {}, async (services, { query }) => {
    const text = (query["q"] ?? "").slice(0, 320);
    const found = await services.operator.search(text, wordOf(query["kind"]), 200);
    const names = await authorsOf(found.entries, services.accounts);
    const entries = found.entries.map((entry) => ({
      ...entryJson(entry),
      author: names.get(entry.author) ?? entry.author,
    }));
    return { entries, total: found.total };
  }),
  admin(
    "POST admin/lists/entries",
    { body: { entry: entryField, kind: kindField, ...DETAILS } },
    async (services, request) => {
      const { entry, kind } = request.body;
      return entryJson(await noted(services, request).save(entry, kind, detailsOf(request)));
    },
  ),
  admin("POST admin/lists/forget", { body: { entry: entryField } }, async (services, request) => {
    const forgotten = await noted(services, request).forget(request.body.entry);
    if (forgotten === undefined) throw badField("Enter a domain, *.suffix, mx:host or address.");
    if (forgotten.count === 0) throw notFound();
    return { forgotten: forgotten.count };
  }),
  admin(
    "POST admin/lists/import",
    {
      // The transport's limit stands before this one.
      body: { text: bodyText(6_000_000), kind: optional(kindField), ...DETAILS },
      largeBody: true,
    },
    async (services, request) => {
      const { text, kind } = request.body;
      const rules = noted(services, request);
      const { count, atMs, replaced } = await rules.importLines(text, kind, detailsOf(request));
      // The time names the import when it is taken back.
      return { imported: count, imported_ms: atMs, replaced: replaced.map(entryJson) };
    },
  ),
  admin(
    "POST admin/lists/take-back",
    { body: { imported_ms: wholeField } },
    async (services, request) => {
      const { account, body } = request;
      const rules = noted(services, request);
      return { forgotten: await rules.takeBack(account.id, body.imported_ms) };
    },
  ),
];

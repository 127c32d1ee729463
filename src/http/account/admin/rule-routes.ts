import { LIST_WORDS, type ListWord } from "../../../core/evidence/rule.ts";
import type { Rule } from "../../../lists/rules/entry-json.ts";
import type { Audit } from "../../../accounts/audit.ts";
import { auditedEntries } from "../../../gate/audited.ts";
import type { AccountService } from "../../../accounts/accounts.ts";
import { entryJson, OwnEntry } from "../../../lists/rules/entry-json.ts";
import { listLines } from "../../../lists/rules/entry-lines.ts";
import { NOTE_MAX, type RuleService } from "../../../lists/rules/rules.ts";
import { badField, notFound } from "../../../base/refusals.ts";
import { Type } from "../../../core/json-schema.ts";
import { textField } from "../fields.ts";
import { file } from "../file.ts";
import {
  detailsField,
  entryRefusal,
  LINES_MAX_CHARACTERS,
  wordOf,
  wrongLines,
} from "./rule-fields.ts";
import { noteOf } from "../note.ts";
import { type AccountRoute, answering } from "../route.ts";
import { Forgotten, FoundEntries, Imported } from "./admin-shapes.ts";

export interface EntriesDeps {
  readonly operator: RuleService;
  /** For the names of authors. */
  readonly accounts: Pick<AccountService, "find">;
  readonly audit: Audit;
}

const SHOWN_MAX = 200;
const SOUGHT_MAX = 320;
const ENTRY_MAX = 2_000;
const WORD_MAX = 20;

const DETAILS = {
  note: Type.String({ maxLength: NOTE_MAX }),
  expires: Type.Optional(Type.String({ description: "The last day it counts, YYYY-MM-DD (UTC)." })),
};

/** The operator's own word on domains, mail hosts and addresses. */
export const adminEntryRoutes = (deps: EntriesDeps): readonly AccountRoute[] => [
  searchRoute(deps),
  saveRoute(deps),
  forgetRoute(deps),
  importRoute(deps),
  exportRoute(deps),
];

const searchRoute = ({ operator, accounts }: EntriesDeps): AccountRoute =>
  answering(FoundEntries, {
    method: "GET",
    path: "admin/lists/entries",
    for: "admin",
    summary: "Rules of one `kind` or all, whose text or note holds `q`",
    async handle({ query }) {
      const text = (query["q"] ?? "").slice(0, SOUGHT_MAX);
      const found = await operator.search(text, wordOf(query["kind"]), SHOWN_MAX);
      const names = await authorsOf(found.entries, accounts);
      const named = found.entries.map((entry) => ({
        ...entryJson(entry),
        author: names.get(entry.author) ?? entry.author,
      }));
      return { entries: named, total: found.total };
    },
  });

/** The e-mail addresses of authors that are accounts. */
async function authorsOf(
  entries: readonly Rule[],
  accounts: EntriesDeps["accounts"],
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  for (const id of new Set(entries.map(({ author }) => author))) {
    const account = /^[0-9a-f]{32}$/.test(id) ? await accounts.find(id) : undefined;
    if (account !== undefined) names.set(id, account.email);
  }
  return names;
}

const saveRoute = ({ operator, audit }: EntriesDeps): AccountRoute =>
  answering(OwnEntry, {
    method: "POST",
    path: "admin/lists/entries",
    for: "admin",
    summary: "Say of an entry what it is; it replaces what was said before",
    body: Type.Object({ entry: Type.String(), kind: Type.Enum(LIST_WORDS), ...DETAILS }),
    async handle(request) {
      const { body, account } = request;
      const entry = textField(body, "entry", ENTRY_MAX);
      const word = neededWord(textField(body, "kind", WORD_MAX));
      const details = detailsField(body, account);
      const answer = await auditedEntries(operator, noteOf(request, audit)).save(
        entry,
        word,
        details,
      );
      if (answer.kind !== "saved") throw entryRefusal(answer);
      return entryJson(answer.entry);
    },
  });

function neededWord(text: string): ListWord {
  const word = wordOf(text);
  if (word === undefined) throw badField(`An entry says one of: ${LIST_WORDS.join(", ")}.`);
  return word;
}

const forgetRoute = ({ operator, audit }: EntriesDeps): AccountRoute =>
  answering(Forgotten, {
    method: "POST",
    path: "admin/lists/forget",
    for: "admin",
    summary: "Take back everything said of an entry",
    body: Type.Object({ entry: Type.String() }),
    async handle(request) {
      const entry = textField(request.body, "entry", ENTRY_MAX);
      const forgotten = await auditedEntries(operator, noteOf(request, audit)).forget(entry);
      if (forgotten === undefined) throw badField("Enter a domain, *.suffix, mx:host or address.");
      if (forgotten.count === 0) throw notFound();
      return { forgotten: forgotten.count };
    },
  });

const importRoute = ({ operator, audit }: EntriesDeps): AccountRoute =>
  answering(Imported, {
    method: "POST",
    path: "admin/lists/import",
    for: "admin",
    largeBody: true,
    summary:
      "Take all lines of a text, or none if one is wrong; `kind` is for lines without a word",
    body: Type.Object({
      text: Type.String(),
      kind: Type.Optional(Type.Enum(LIST_WORDS)),
      ...DETAILS,
    }),
    async handle(request) {
      const { body, account } = request;
      const text = textField(body, "text", LINES_MAX_CHARACTERS);
      const word = body["kind"] === undefined ? undefined : neededWord(textField(body, "kind", 20));
      const details = detailsField(body, account);
      const noted = auditedEntries(operator, noteOf(request, audit));
      const answer = await noted.importLines(text, word, details);
      if (answer.kind === "wrong_lines") throw wrongLines(answer.lines);
      if (answer.kind !== "imported") throw entryRefusal(answer);
      return { imported: answer.count };
    },
  });

const exportRoute = ({ operator }: EntriesDeps): AccountRoute => ({
  method: "GET",
  path: "admin/lists/export",
  for: "admin",
  summary: "Rules of one `kind` or all, as lines that an import reads",
  async handle({ query }) {
    const word = wordOf(query["kind"]);
    const all = await operator.entries();
    const wanted = all.filter((entry) => word === undefined || entry.word === word);
    const chunks = (async function* lines() {
      for (let from = 0; from < wanted.length; from += LINES_AT_ONCE) {
        yield await Promise.resolve(listLines(wanted.slice(from, from + LINES_AT_ONCE)));
      }
    })();
    return file("gatepost-lists.txt", "text/plain; charset=utf-8", chunks);
  },
});

const LINES_AT_ONCE = 5_000;

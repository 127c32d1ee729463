import type { ComponentChildren, VNode } from "preact";
import { isListRefusal, LIST_REFUSALS } from "../../core/evidence/list-refusal.ts";
import type { ListWord } from "../../core/evidence/rule.ts";
import type {
  FoundEntriesJson,
  ImportedRules,
  RefreshOutcomeJson,
  OwnEntry,
  Source,
} from "../../http/account/shapes.ts";
import { ApiFault, call, post } from "../lib/client.ts";
import { count, counted, sumOf } from "../lib/format.ts";
import { say } from "../lib/state.ts";
import { Act } from "../parts/act.tsx";
import {
  type FieldSpec,
  type FormValues,
  textField,
  useChoice,
  useSearch,
} from "../parts/form.tsx";
import { Chip, noted, Time } from "../parts/marks.tsx";
import { Loaded, LoadedSheet, PageHead, Sheet } from "../parts/page.tsx";
import { Table } from "../parts/rows.tsx";
import { entryWords } from "../words/names.ts";
import type { MarkKind } from "../words/verdict.ts";

export const Page = (): VNode => (
  <>
    <PageHead
      title="Rules"
      lead="Names that you allow or deny, and the public lists. Changes apply everywhere within 5 seconds."
    />
    <OwnEntries />
    <Sources />
  </>
);

const KINDS: Readonly<Record<ListWord, readonly [MarkKind, string]>> = {
  allow: ["yes", "Allowed"],
  deny: ["no", "Denied"],
  account: ["no", "Throw-away account"],
  recycled: ["unsure", "Recycled trap"],
  pristine: ["unsure", "Pristine trap"],
  listed: ["unsure", "Listed trap"],
  off: ["unsure", "Off"],
};
const CHOICES = Object.entries(KINDS)
  .filter(([kind]) => kind !== "off")
  .map(([kind, [, words]]) => [kind, words] as const);
/** Denying is what entries are made for mostly, but it takes names out: it is chosen, not preset. */
const CHOOSE = [["", "Choose…"] as const, ...CHOICES];

const DETAILS: readonly FieldSpec[] = [
  textField("note", "Note", "Why, for you and the other administrators. May stay empty.", {
    maxLength: 500,
  }),
  textField("expires", "Last day", "It counts to the end of this day (UTC). Empty: for good.", {
    type: "date",
  }),
];

const bodyOf = ({ expires = "", ...values }: FormValues): FormValues => {
  if (values["kind"] === "") throw new ApiFault(400, "Choose what it is.");
  return { ...values, ...(expires !== "" && { expires }) };
};

const ADD: readonly FieldSpec[] = [
  textField(
    "entry",
    "Domain, mail server or address",
    "a.example, *.suffix.example for all below it, mx:mail.example, or one address, which is kept as a hash.",
    { class: "mono", required: true, autocapitalize: "off" },
  ),
  { name: "kind", label: "What it is", choices: CHOOSE },
  ...DETAILS,
];

const IMPORT: readonly FieldSpec[] = [
  {
    name: "text",
    label: "Entries",
    rows: 8,
    hint: "One a line; “allow a.example” says its own word, “until 2027-01-31” at its end the last day, “#” begins a remark. If one line is wrong, nothing is taken. For large files use “gatepost lists import” on the server.",
    input: { required: true },
  },
  { name: "kind", label: "Lines without a word are", choices: CHOOSE },
  ...DETAILS,
];

async function importAll(values: FormValues): Promise<void> {
  const body = bodyOf(values);
  const { imported, imported_ms, replaced } = await post<ImportedRules>("admin/lists/import", body);
  say(`${counted(imported, "rule")} imported.`, async () => {
    await post("admin/lists/take-back", { imported_ms });
    for (const known of replaced) await saveEntry(againOf(known));
  });
}

const saveEntry = (body: object): Promise<OwnEntry> => post("admin/lists/entries", body);
const forgetEntry = (entry: string): Promise<unknown> => post("admin/lists/forget", { entry });

const askToDeny = ({ entry = "", kind }: FormValues) =>
  Promise.resolve(
    kind === "deny"
      ? {
          title: `Deny ${entry}?`,
          words: "It counts as disposable for everybody within 5 seconds.",
        }
      : undefined,
  );

async function save(values: FormValues): Promise<void> {
  const body = bodyOf(values);
  const path = `admin/lists/entries?kind=&q=${encodeURIComponent(body["entry"]?.trim() ?? "")}`;
  const before = (await call<FoundEntriesJson>("GET", path)).entries;
  const { entry } = await saveEntry(body);
  const known = before.find((one) => one.entry === entry);
  say(`The rule about ${entryWords(entry)} is saved.`, async () => {
    await forgetEntry(entry);
    if (known !== undefined) await saveEntry(againOf(known));
  });
}

const againOf = ({ entry, kind, note, expires_at: ends }: OwnEntry): FormValues => ({
  entry,
  kind,
  note,
  ...(ends !== null && { expires: ends.slice(0, 10) }),
});

function OwnEntries(): VNode {
  const [sought, search] = useSearch("Name, address or note");
  const [kind, choice] = useChoice("Which rules", [["", "All kinds"], ...CHOICES]);
  const adding = (
    <>
      <Act {...{ act: "Import many", yes: "Import them", fields: IMPORT, send: importAll }} />
      <Act
        {...{ act: "Add a rule", class: "small main", yes: "Save the rule", fields: ADD }}
        {...{ asks: askToDeny, send: save }}
      />
    </>
  );
  return (
    <Sheet title="Your own rules" aside={adding}>
      <div class="bar">
        {search}
        {choice}
      </div>
      <Loaded path={`admin/lists/entries?q=${encodeURIComponent(sought)}&kind=${kind}`} lines={4}>
        {({ entries: all, total }: FoundEntriesJson) => {
          const entries = all.filter((entry) => entry.kind !== "off");
          const words = counted(total - all.length + entries.length, "rule");
          const most = `The first ${count(entries.length)} of ${words}: search to narrow them.`;
          return (
            <>
              <p class="note" role="status">
                {total > all.length ? most : words}
              </p>
              <Table
                tall
                label="Your own rules"
                head={["Name", "Says", "Note", "Made", ""]}
                none={sought + kind === "" ? NO_RULES : "Take another kind, or clear the search."}
                rows={entries.map(cellsOf)}
              />
            </>
          );
        }}
      </Loaded>
    </Sheet>
  );
}

const NO_RULES =
  "Allow a customer's domain that a list holds by mistake, or deny one that no list knows yet. Your word counts more than any list.";

function cellsOf(known: OwnEntry): readonly ComponentChildren[] {
  const { entry, kind, note, expires_at: ends, created_at: made, author } = known;
  const [mark, words] = KINDS[kind];
  const name = entryWords(entry);
  return [
    name === entry ? <code>{name}</code> : <span title={entry}>{name}</span>,
    noted(<Chip {...{ mark, words }} />, ends && <Time words="ends" at={ends} />),
    note,
    noted(<Time at={made} />, `by ${author}`),
    <Act
      {...{ act: "Forget", of: name, send: () => forgetEntry(entry) }}
      said={`All that you said of ${name} is taken back.`}
      undo={() => saveEntry(againOf(known))}
    >
      All that you said of <b class="break">{name}</b> is taken back. The public lists alone decide
      then.
    </Act>,
  ];
}

export function refusalWords({ refused, detail }: Source): string {
  if (refused === null) return "";
  const words = isListRefusal(refused) ? LIST_REFUSALS[refused] : refused.replaceAll("_", " ");
  return detail ? `${words} (${detail}).` : `${words}.`;
}

/** Refusals that the operator may overrule; what else is wrong with a file stays wrong. */
const MAY_BE_TAKEN: readonly (string | null)[] = ["size_swing", "many_removed"];

const OUTCOMES = [
  ["accepted", "changed"],
  ["unchanged", "unchanged"],
  ["refused", "not taken"],
] as const;

async function refresh(accept: readonly string[]): Promise<void> {
  type Answer = { readonly outcomes: readonly RefreshOutcomeJson[] };
  const { outcomes } = await post<Answer>("admin/lists/refresh", { accept });
  const said = OUTCOMES.flatMap(([kind, words]) => {
    const many = outcomes.filter((outcome) => outcome.kind === kind).length;
    return many > 0 ? [`${count(many)} ${words}`] : [];
  });
  say(`${counted(outcomes.length, "list")} checked: ${said.join(", ")}.`);
}

const Sources = (): VNode => (
  <LoadedSheet
    {...{ title: "Public lists", path: "admin/lists", lines: 6 }}
    aside={<Act act="Fetch them now" send={() => refresh([])} />}
  >
    {({ sources }: { readonly sources: readonly Source[] }) => (
      <>
        <p class="note">
          {counted(
            sumOf(sources, ({ names, off }) => (off ? 0 : names)),
            "name",
          )}{" "}
          in use, many of them on several lists. A name counts fully when a curated list holds it;
          the other lists copy each other and count once.
        </p>
        <Table
          label="Public lists"
          head={["List", "Names", "In use", "Last asked", ""]}
          numbers={[1]}
          rows={sources.map((source) => [
            named(source),
            count(source.names),
            originOf(source),
            <Time at={source.asked_at} />,
            feedSwitch(source),
          ])}
        />
      </>
    )}
  </LoadedSheet>
);

function originOf({ from, fetched_at: at }: Source): ComponentChildren {
  if (from === "nowhere") return <Chip mark="unsure" words="Nothing yet" />;
  if (from === "package") return "Came with the program";
  return <Time words="Fetched" at={at} />;
}

function named(source: Source): VNode {
  const { id, curated, off, refused, names } = source;
  const words = refusalWords(source);
  return (
    <>
      <code>{id}</code> {curated && <Chip words="Curated" />}
      {off && <Chip mark="unsure" words="Off" />}
      {words && (
        <div class="note refusal">
          {words} {names === 0 ? "Nothing of it is in use." : "The copy before it stays in use."}
        </div>
      )}
      {MAY_BE_TAKEN.includes(refused) && (
        <Act {...{ act: "Take it all the same", of: `for ${id}` }} send={() => refresh([id])}>
          {words} A source that was broken into, or lost a part of its file, looks just like this:
          names that went are no longer called disposable, names that came are. Look at the source
          first. All other rules hold, and every source is asked anew.
        </Act>
      )}
    </>
  );
}

/** A feed that is off gives no evidence, in every process. */
function feedSwitch({ id: of, off, names }: Source): VNode {
  const entry = `feed:${of}`;
  const turn = (isOn: boolean) => () =>
    isOn ? forgetEntry(entry) : saveEntry({ entry, kind: "off", note: "" });
  return (
    <Act
      {...{ act: off ? "Switch on" : "Switch off", of, send: turn(off), undo: turn(!off) }}
      said={`${of} is ${off ? "on" : "off"}.`}
    >
      {!off &&
        `Its ${counted(names, "name")} no longer count for any account, within 5 seconds. Names that other lists hold too stay listed.`}
    </Act>
  );
}

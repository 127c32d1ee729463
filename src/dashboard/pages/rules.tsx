import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { ListWord } from "../../core/evidence/rule.ts";
import { ApiFault, post } from "../lib/client.ts";
import { count, counted } from "../lib/format.ts";
import { useLoad, useRested } from "../lib/load.ts";
import type { FoundEntries, Outcome, OwnEntry, Source } from "../lib/shapes.ts";
import { announce, say } from "../lib/state.ts";
import { Empty, type MarkKind, PageHead, Sheet, Shown, Table, Time } from "../parts/basic.tsx";
import {
  Act,
  Ask,
  type FieldSpec,
  FormDialog,
  Options,
  Search,
  type Values,
} from "../parts/form.tsx";
import { entryWords } from "../words/names.ts";

/** What detection knows: the operator's own rules, and the public lists. */
export function RulesPage(): VNode {
  return (
    <>
      <PageHead
        title="Rules"
        lead="Names that you allow or deny, and the public lists. Changes apply everywhere within 5 seconds."
      />
      <OwnEntries />
      <Sources />
    </>
  );
}

/** What an entry says of its subject. Feeds are switched off in their own table. */
const KINDS: Readonly<Record<Exclude<ListWord, "off">, readonly [MarkKind, string]>> = {
  allow: ["yes", "Allowed"],
  deny: ["no", "Denied"],
  account: ["no", "Throw-away account"],
  recycled: ["unsure", "Recycled trap"],
  pristine: ["unsure", "Pristine trap"],
  listed: ["unsure", "Listed trap"],
};
const CHOICES = Object.entries(KINDS).map(([kind, [, words]]) => [kind, words] as const);
/** Denying is what entries are made for mostly, but it takes names out: it is chosen, not preset. */
const CHOOSE = [["", "Choose…"] as const, ...CHOICES];

const DETAILS: readonly FieldSpec[] = [
  {
    name: "note",
    label: "Note",
    hint: "Why, for you and the other administrators. May stay empty.",
    input: { maxLength: 500, autocomplete: "off" },
  },
  {
    name: "expires",
    label: "Last day",
    hint: "It counts to the end of this day (UTC). Empty: for good.",
    input: { type: "date" },
  },
];

/** In the server's form: without a last day the member is absent. */
const bodyOf = ({ expires = "", ...values }: Values): Values => {
  if (values["kind"] === "") throw new ApiFault(400, "Choose what it is.");
  return { ...values, ...(expires !== "" && { expires }) };
};

const ADD: readonly FieldSpec[] = [
  {
    name: "entry",
    label: "Domain, mail server or address",
    hint: "a.example, *.suffix.example for all below it, mx:mail.example, or one address, which is kept as a hash.",
    input: { class: "mono", required: true, autocapitalize: "off", autocomplete: "off" },
  },
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

/** The operator's word on names. */
function OwnEntries(): VNode {
  const [text, setText] = useState("");
  const [kind, setKind] = useState("");
  const sought = useRested(text);
  const query = `q=${encodeURIComponent(sought)}&kind=${kind}`;
  const loading = useLoad<FoundEntries>(`admin/lists/entries?${query}`);
  return (
    <Sheet title="Your own rules" aside={<Adding kind={kind} onChange={loading.reload} />}>
      <div class="bar">
        <Search label="Name, address or note" value={text} onValue={setText} />
        <Options
          label="Which rules"
          class="kind"
          value={kind}
          onValue={setKind}
          choices={[["", "All kinds"], ...CHOICES]}
        />
      </div>
      <Shown loading={loading} lines={4}>
        {(found) => (
          <Found found={found} isSought={sought + kind !== ""} onChange={loading.reload} />
        )}
      </Shown>
    </Sheet>
  );
}

function Adding({ kind, onChange }: { kind: string; onChange: () => void }): VNode {
  const add = async (values: Values): Promise<void> => {
    await post("admin/lists/entries", bodyOf(values));
    announce("Rule saved.");
    onChange();
  };
  const take = async (values: Values): Promise<void> => {
    type Answer = { readonly imported: number };
    const { imported } = await post<Answer>("admin/lists/import", bodyOf(values));
    say(`${counted(imported, "rule")} imported.`);
    onChange();
  };
  return (
    <>
      <a class="button small plain" href={`account/admin/lists/export?kind=${kind}`} download>
        Export
      </a>
      <FormDialog
        act="Import many"
        title="Import rules"
        yes="Import them"
        fields={IMPORT}
        send={take}
      />
      <FormDialog
        act="Add a rule"
        class="small main"
        title="Add a rule"
        yes="Save the rule"
        fields={ADD}
        send={add}
      />
    </>
  );
}

function Found(props: { found: FoundEntries; isSought: boolean; onChange: () => void }): VNode {
  const { entries: all, total } = props.found;
  const entries = all.filter(({ kind }) => kind !== "off");
  const hidden = all.length - entries.length;
  if (entries.length === 0) {
    return props.isSought ? (
      <Empty title="No rule fits">Take another kind, or clear the search.</Empty>
    ) : (
      <Empty title="No rules yet">
        Allow a customer's domain that a list holds by mistake, or deny one that no list knows yet.
        Your word counts more than any list.
      </Empty>
    );
  }
  const words = counted(total - hidden, "rule");
  return (
    <>
      <p class="note" role="status">
        {total > all.length
          ? `The first ${count(entries.length)} of ${words}: search to narrow them.`
          : words}
      </p>
      <Table
        tall
        label="Your own rules"
        head={["Name", "Says", "Note", "Made", ""]}
        rows={entries.map((entry) => cellsOf(entry, props.onChange))}
      />
    </>
  );
}

function cellsOf(entry: OwnEntry, onChange: () => void) {
  const { kind, note, expires_at: ends, created_at: made, author } = entry;
  const [mark, words] = kind === "off" ? (["unsure", "Off"] as const) : KINDS[kind];
  const name = entryWords(entry.entry);
  const forget = async (): Promise<void> => {
    await post("admin/lists/forget", { entry: entry.entry });
    onChange();
    const expires = ends === null ? {} : { expires: ends.slice(0, 10) };
    say(`All that you said of ${name} is taken back.`, async () => {
      await post("admin/lists/entries", { entry: entry.entry, kind, note, ...expires });
      onChange();
    });
  };
  return [
    name === entry.entry ? <code>{name}</code> : <span title={entry.entry}>{name}</span>,
    <>
      <span class={`chip ${mark}`}>{words}</span>
      {ends === null ? null : (
        <div class="note">
          ends <Time at={ends} />
        </div>
      )}
    </>,
    note,
    <>
      <Time at={made} />
      <div class="note">by {author}</div>
    </>,
    <Ask act="Forget" of={name} title="Forget this rule?" yes="Forget it" work={forget}>
      All that you said of <b class="break">{name}</b> is taken back. The public lists alone decide
      then.
    </Ask>,
  ];
}

const REFUSALS: Readonly<Record<string, string>> = {
  not_fetched: "It could not be fetched",
  bad_status: "Its server answered with an error",
  too_large: "The file was larger than 16 MB",
  not_a_list: "The file was not a list of names",
  below_floor: "It held fewer names than it ever had",
  size_swing: "Its size changed too much at once",
  lacks_known: "A name that every such list holds was missing",
  holds_provider: "It named a large mail provider",
  many_removed: "Many names were gone at once; the next fetch has to say so again",
  not_kept: "The data directory could not take it",
};

/** Why an answer was not taken. */
export const refusalWords = (why: string, detail: string | null): string =>
  `${REFUSALS[why] ?? why.replaceAll("_", " ")}${detail === null || detail === "" ? "" : ` (${detail})`}.`;

/** Refusals that the operator may overrule; what else is wrong with a file stays wrong. */
const mayBeTaken = (refused: string | null): boolean =>
  refused === "size_swing" || refused === "many_removed";

/** What a fetch of all lists came to, in a sentence. */
function outcomeWords(outcomes: readonly Outcome[]): string {
  const of = (kind: Outcome["kind"]): number =>
    outcomes.filter((outcome) => outcome.kind === kind).length;
  const parts = [
    [of("accepted"), "changed"],
    [of("unchanged"), "unchanged"],
    [of("refused"), "not taken"],
  ] as const;
  const said = parts.filter(([number]) => number > 0).map(([n, words]) => `${count(n)} ${words}`);
  return `${counted(outcomes.length, "list")} checked: ${said.join(", ")}.`;
}

/** Every public list: how fresh, how large, and why its last answer was not taken. */
function Sources(): VNode {
  const loading = useLoad<{ readonly sources: readonly Source[] }>("admin/lists");
  const refresh = async (accept: readonly string[]): Promise<void> => {
    const body = { accept };
    const { outcomes } = await post<{ readonly outcomes: readonly Outcome[] }>(
      "admin/lists/refresh",
      body,
    );
    say(outcomeWords(outcomes));
    loading.reload();
  };
  return (
    <Sheet title="Public lists" aside={<Act act="Fetch them now" work={() => refresh([])} />}>
      <Shown loading={loading} lines={6}>
        {({ sources }) => (
          <>
            <p class="note">
              {counted(
                sources.reduce((sum, { names, off }) => (off ? sum : sum + names), 0),
                "name",
              )}{" "}
              in use, many of them on several lists. A name counts fully when a curated list holds
              it; the other lists copy each other and count once.
            </p>
            <Table
              label="Public lists"
              head={["List", "Names", "In use", "Last asked", ""]}
              numbers={[1]}
              rows={sources.map((source) => [
                <Named source={source} onTake={() => refresh([source.id])} />,
                count(source.names),
                source.from === "nowhere" ? (
                  <span class="chip unsure">Nothing yet</span>
                ) : source.from === "package" ? (
                  "Came with the program"
                ) : (
                  <>
                    Fetched <Time at={source.fetched_at} />
                  </>
                ),
                <Time at={source.asked_at} />,
                <Switch source={source} onDone={loading.reload} />,
              ])}
            />
          </>
        )}
      </Shown>
    </Sheet>
  );
}

function Named({ source, onTake }: { source: Source; onTake: () => Promise<void> }): VNode {
  const { id, curated, off, refused, detail, names } = source;
  return (
    <>
      <code>{id}</code> {curated ? <span class="chip">Curated</span> : null}
      {off ? <span class="chip unsure">Off</span> : null}
      {refused === null ? null : (
        <div class="note refusal">
          {refusalWords(refused, detail)}{" "}
          {names === 0 ? "Nothing of it is in use." : "The copy before it stays in use."}
        </div>
      )}
      {mayBeTaken(refused) ? (
        <Ask
          act="Take it all the same"
          of={`for ${id}`}
          title={`Take “${id}” as it is now?`}
          yes="Take it"
          work={onTake}
        >
          {refusalWords(refused ?? "", detail)} A source that was broken into, or lost a part of its
          file, looks just like this: names that went are no longer called disposable, names that
          came are. Look at the source first. All other rules hold, and every source is asked anew.
        </Ask>
      ) : null}
    </>
  );
}

/** A feed that is off gives no evidence, in every process. */
function Switch({ source, onDone }: { source: Source; onDone: () => void }): VNode {
  const { id, off, names } = source;
  const turn = async (isOff: boolean): Promise<void> => {
    const entry = `feed:${id}`;
    if (isOff) await post("admin/lists/entries", { entry, kind: "off", note: "" });
    else await post("admin/lists/forget", { entry });
    onDone();
    say(`${id} is ${isOff ? "off" : "on"}.`, () => turn(!isOff));
  };
  if (off) return <Act act="Switch on" of={id} work={() => turn(false)} />;
  return (
    <Ask act="Switch off" of={id} title={`Switch ${id} off?`} work={() => turn(true)}>
      Its {counted(names, "name")} no longer count for any account, within 5 seconds. Names that
      other lists hold too stay listed.
    </Ask>
  );
}

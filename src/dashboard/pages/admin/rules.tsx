import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { ListWord } from "../../../core/evidence/rule.ts";
import { call } from "../../api/client.ts";
import { announce } from "../../app/announce.ts";
import { useLoad } from "../../app/load.ts";
import { count, counted } from "../../app/numbers.ts";
import { useRested } from "../../app/rested.ts";
import { Confirm } from "../../parts/dialog.tsx";
import { Empty, Shown } from "../../parts/states.tsx";
import { Time } from "../../parts/time.tsx";
import { entryWords, KIND_NAMES, KINDS } from "../../words/rules.ts";
import { AddEntry } from "./rule-dialog.tsx";
import { ImportEntries } from "./import-dialog.tsx";
import { t, tx } from "../../app/i18n.ts";
import type { FoundEntries, OwnEntry } from "../../api/shapes.ts";

type Asked =
  { readonly kind: "add" | "import" } | { readonly kind: "forget"; readonly entry: OwnEntry };

/** The operator's word on names. */
export function OwnEntries(): VNode {
  const [text, setText] = useState("");
  const [kind, setKind] = useState<ListWord | "">("");
  const [asked, setAsked] = useState<Asked>();
  const sought = useRested(text);
  const query = `q=${encodeURIComponent(sought)}&kind=${kind}`;
  const loading = useLoad<FoundEntries>(`admin/lists/entries?${query}`);
  return (
    <section class="sheet stack">
      <div class="bar">
        <h2>{t("Your own entries")}</h2>
        <span class="push" />
        <a class="button plain" href={`/account/admin/lists/export?kind=${kind}`} download>
          {t("Export")}
        </a>
        <button type="button" onClick={() => setAsked({ kind: "import" })}>
          {t("Import a file")}
        </button>
        <button type="button" class="main" onClick={() => setAsked({ kind: "add" })}>
          {t("Add an entry")}
        </button>
      </div>
      <Finder text={text} onText={setText} kind={kind} onKind={setKind} />
      <Shown loading={loading} lines={4}>
        {(found) => (
          <Found
            found={found}
            isSought={sought !== "" || kind !== ""}
            onForget={(entry) => setAsked({ kind: "forget", entry })}
          />
        )}
      </Shown>
      <Dialogs asked={asked} onClose={() => setAsked(undefined)} onDone={loading.reload} />
    </section>
  );
}

function Dialogs(props: {
  asked: Asked | undefined;
  onClose: () => void;
  onDone: () => void;
}): VNode | null {
  const { asked, onClose, onDone } = props;
  switch (asked?.kind) {
    case undefined:
      return null;
    case "add":
      return <AddEntry onClose={onClose} onDone={onDone} />;
    case "import":
      return <ImportEntries onClose={onClose} onDone={onDone} />;
    case "forget":
      return <Forget known={asked.entry} onClose={onClose} onDone={onDone} />;
  }
}

function Finder(props: {
  text: string;
  onText: (text: string) => void;
  kind: ListWord | "";
  onKind: (kind: ListWord | "") => void;
}): VNode {
  return (
    <div class="bar">
      <input
        class="search"
        type="search"
        aria-label={t("Search in entries and notes")}
        placeholder={t("Name, address or note")}
        value={props.text}
        onInput={(event) => props.onText(event.currentTarget.value)}
      />
      <select
        class="kind"
        aria-label={t("Which entries")}
        value={props.kind}
        onChange={(event) => props.onKind(kindOf(event.currentTarget.value))}
      >
        <option value="">{t("All kinds")}</option>
        {KIND_NAMES.map((word) => (
          <option key={word} value={word}>
            {t(KINDS[word].words)}
          </option>
        ))}
      </select>
    </div>
  );
}

const kindOf = (value: string): ListWord | "" => KIND_NAMES.find((word) => word === value) ?? "";

function Found(props: {
  found: FoundEntries;
  isSought: boolean;
  onForget: (entry: OwnEntry) => void;
}): VNode {
  const { entries, total } = props.found;
  if (entries.length === 0) return <NoEntries isSought={props.isSought} />;
  return (
    <>
      <p class="note" role="status">
        {total > entries.length
          ? t("The first {n} of {all}: search to narrow them.", {
              n: count(entries.length),
              all: counted(total, "{n} entry", "{n} entries"),
            })
          : counted(total, "{n} entry", "{n} entries")}
      </p>
      <div class="scroll tall queue" tabIndex={0} role="region" aria-label={t("Your own entries")}>
        <table class="folds">
          <thead>
            <tr>
              <th scope="col">{t("Entry")}</th>
              <th scope="col">{t("Says")}</th>
              <th scope="col">{t("Note")}</th>
              <th scope="col">{t("Made")}</th>
              <th scope="col">
                <span class="unseen">{t("Forget")}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {entries.map((entry) => (
              <EntryRow key={`${entry.kind} ${entry.entry}`} entry={entry} {...props} />
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function NoEntries({ isSought }: { isSought: boolean }): VNode {
  return isSought ? (
    <Empty title={t("No entry fits")}>
      <p>{t("Take another kind, or clear the search.")}</p>
    </Empty>
  ) : (
    <Empty title={t("No entries yet")}>
      <p>
        {t(
          "Allow a customer's domain that a list holds by mistake, or deny one that no list knows yet. Your word counts more than any list.",
        )}
      </p>
    </Empty>
  );
}

function EntryRow(props: { entry: OwnEntry; onForget: (entry: OwnEntry) => void }): VNode {
  const { entry } = props;
  const { mark, words } = KINDS[entry.kind];
  const name = entryWords(entry.entry);
  return (
    <tr>
      <td class="break subject">
        {name === entry.entry ? <code>{name}</code> : <span title={entry.entry}>{name}</span>}
      </td>
      <td>
        <span class={`chip ${mark}`}>{t(words)}</span>
        {entry.expires_at === null ? null : (
          <div class="note">{tx("ends {time}", { time: <Time at={entry.expires_at} /> })}</div>
        )}
      </td>
      <td class="break reason">{entry.note}</td>
      <td class="made">
        <Time at={entry.created_at} />
        <div class="note break">{t("by {author}", { author: entry.author })}</div>
      </td>
      <td class="act">
        <button type="button" class="small" onClick={() => props.onForget(entry)}>
          {t("Forget")}
          <span class="unseen"> {name}</span>
        </button>
      </td>
    </tr>
  );
}

function Forget(props: { known: OwnEntry; onClose: () => void; onDone: () => void }): VNode {
  const { entry } = props.known;
  const forget = async (): Promise<void> => {
    await call("POST", "admin/lists/forget", { entry });
    announce(t("Entry forgotten."));
    props.onDone();
  };
  return (
    <Confirm
      title={t("Forget this entry?")}
      act={t("Forget it")}
      work={forget}
      onClose={props.onClose}
    >
      {tx("All that you said of {name} is taken back. The public lists alone decide then.", {
        name: <b class="break">{entryWords(entry)}</b>,
      })}
    </Confirm>
  );
}

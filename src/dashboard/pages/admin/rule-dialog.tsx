import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { ListWord } from "../../../core/evidence/rule.ts";
import { call } from "../../api/client.ts";
import { detailsBody } from "../../api/rules.ts";
import { announce } from "../../app/announce.ts";
import { useAction } from "../../app/load.ts";
import { Dialog, FormFoot } from "../../parts/dialog.tsx";
import { EntryDetails } from "../../parts/entry-details.tsx";
import { Field } from "../../parts/field.tsx";
import { Fault } from "../../parts/states.tsx";
import { t } from "../../app/i18n.ts";
import { KIND_NAMES, KINDS } from "../../words/rules.ts";

/** Asks for one entry and saves it. */
export function AddEntry(props: { onClose: () => void; onDone: () => void }): VNode {
  const [entry, setEntry] = useState("");
  const [kind, setKind] = useState<ListWord>("deny");
  const [details, setDetails] = useState({ note: "", lastDay: "" });
  const { busy, fault, run } = useAction();
  const submit = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      await call("POST", "admin/lists/entries", { entry, kind, ...detailsBody(details) });
      announce(t("Entry saved."));
      props.onDone();
      props.onClose();
    });
  };
  return (
    <Dialog title={t("Add an entry")} onClose={props.onClose}>
      <form class="stack" onSubmit={submit}>
        <Field
          label={t("Domain, mail server or address")}
          value={entry}
          onValue={setEntry}
          hint={t(
            "a.example, *.suffix.example for all below it, mx:mail.example, or one address, which is kept as a hash.",
          )}
          input={{
            class: "mono",
            required: true,
            spellcheck: false,
            autocapitalize: "off",
            autocomplete: "off",
          }}
        />
        <KindChoice kind={kind} onKind={setKind} />
        <EntryDetails details={details} onDetails={setDetails} />
        <Fault text={fault} />
        <FormFoot act={t("Save the entry")} disabled={busy} onClose={props.onClose} />
      </form>
    </Dialog>
  );
}

/** Feeds are switched off in their own table. */
const SAID_OF_NAMES = KIND_NAMES.filter((word) => word !== "off");

/** What entries say, in a line of choice. */
export function KindChoice(props: {
  kind: ListWord;
  onKind: (kind: ListWord) => void;
  label?: string;
}): VNode {
  return (
    <label class="field">
      <span class="label">{props.label ?? t("What it is")}</span>
      <select
        value={props.kind}
        onChange={({ currentTarget: { value } }) =>
          props.onKind(KIND_NAMES.find((word) => word === value) ?? "deny")
        }
      >
        {SAID_OF_NAMES.map((word) => (
          <option key={word} value={word}>
            {t(KINDS[word].words)}
          </option>
        ))}
      </select>
    </label>
  );
}

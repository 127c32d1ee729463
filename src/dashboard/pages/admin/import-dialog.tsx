import type { VNode } from "preact";
import { useId, useState } from "preact/hooks";
import type { ListWord } from "../../../core/evidence/rule.ts";
import { call } from "../../api/client.ts";
import { detailsBody } from "../../api/rules.ts";
import { announce } from "../../app/announce.ts";
import { useAction } from "../../app/load.ts";
import { counted } from "../../app/numbers.ts";
import { Dialog, FormFoot } from "../../parts/dialog.tsx";
import { EntryDetails } from "../../parts/entry-details.tsx";
import { Fault } from "../../parts/states.tsx";
import { t } from "../../app/i18n.ts";
import { KindChoice } from "./rule-dialog.tsx";

/** Larger files are for the command line. */
const FILE_MAX_BYTES = 5_000_000;
const TOO_LARGE =
  "The file is larger than 5 MB. Split it, or use “gatepost lists import” on the server.";

const NO_TEXT = "The file is not text. Save it as text in UTF-8.";

interface Picked {
  readonly name: string;
  readonly text: string;
}

/** Reads a file of entries here and imports all of it or nothing. */
export function ImportEntries(props: { onClose: () => void; onDone: () => void }): VNode {
  const [picked, setPicked] = useState<Picked>();
  const [kind, setKind] = useState<ListWord>("deny");
  const [details, setDetails] = useState({ note: "", lastDay: "" });
  const [unfit, setUnfit] = useState("");
  const { busy, fault, run } = useAction();
  const pick = (file: File | undefined): void => {
    const isTooLarge = (file?.size ?? 0) > FILE_MAX_BYTES;
    setUnfit(isTooLarge ? t(TOO_LARGE) : "");
    setPicked(undefined);
    if (file === undefined || isTooLarge) return;
    run(async () => {
      const text = await file.text();
      if (text.includes("\0")) setUnfit(t(NO_TEXT));
      else setPicked({ name: file.name, text });
    });
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    if (picked === undefined) return;
    run(async () => {
      const body = { text: picked.text, kind, ...detailsBody(details) };
      const { imported } = await call<{ readonly imported: number }>(
        "POST",
        "admin/lists/import",
        body,
      );
      announce(counted(imported, "{n} entry imported.", "{n} entries imported."));
      props.onDone();
      props.onClose();
    });
  };
  return (
    <Dialog title={t("Import a file")} onClose={props.onClose}>
      <form class="stack" onSubmit={submit}>
        <FilePick picked={picked} onPick={pick} />
        <KindChoice kind={kind} onKind={setKind} label={t("Lines without a word are")} />
        <EntryDetails details={details} onDetails={setDetails} />
        <Fault text={unfit === "" ? fault : unfit} />
        <FormFoot
          act={t("Import it")}
          disabled={busy || picked === undefined}
          onClose={props.onClose}
        />
      </form>
    </Dialog>
  );
}

function FilePick(props: {
  picked: Picked | undefined;
  onPick: (file: File | undefined) => void;
}): VNode {
  const { picked } = props;
  const id = useId();
  const lines = picked?.text.split("\n").filter((line) => line.trim() !== "").length ?? 0;
  return (
    <div class="field">
      <label for={id}>{t("File")}</label>
      <input
        id={id}
        type="file"
        accept=".txt,.csv,.conf,text/plain"
        aria-describedby={`${id}-hint`}
        onChange={(event) => props.onPick(event.currentTarget.files?.[0])}
      />
      <span class="note" id={`${id}-hint`}>
        {picked === undefined
          ? t(
              "One entry a line; “allow a.example” says its own word, “until 2027-01-31” at its end the last day, “#” begins a remark. If one line is wrong, nothing is taken.",
            )
          : counted(lines, "{n} line to import.", "{n} lines to import.")}
      </span>
    </div>
  );
}

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { reportEntry } from "../../api/check.ts";
import type { CheckStep } from "../../api/shapes.ts";
import { announce } from "../../app/announce.ts";
import { t } from "../../app/i18n.ts";
import { useAction } from "../../app/load.ts";
import { session } from "../../app/session.ts";
import { Dialog, FormFoot } from "../../parts/dialog.tsx";
import { Fault } from "../../parts/states.tsx";

/** "This is wrong": one question, to the operator of this service. Visitors have nobody to answer to. */
export function ReportWrong({ entry, step }: { entry: string; step: CheckStep }): VNode | null {
  const [isOpen, setOpen] = useState(false);
  const [isSent, setSent] = useState(false);
  if (session.value?.account === undefined) return null;
  if (isSent) return <span class="note">{t("Reported. The operator decides.")}</span>;
  return (
    <>
      <button type="button" class="small plain" onClick={() => setOpen(true)}>
        {t("This is wrong")}
      </button>
      {isOpen ? (
        <WrongDialog
          entry={entry}
          step={step}
          onClose={() => setOpen(false)}
          onSent={() => setSent(true)}
        />
      ) : null}
    </>
  );
}

function choicesOf({ result }: CheckStep): readonly (readonly [field: string, words: string])[] {
  return [
    ["disposable", result.disposable ? t("It is not disposable") : t("It is disposable")],
    ["dns", result.dns ? t("It cannot receive mail") : t("It can receive mail")],
    ["format", result.format ? t("Its format is wrong") : t("Its format is right")],
  ];
}

function Reason(props: { reason: string; onReason: (reason: string) => void }): VNode {
  return (
    <label class="field">
      <span class="label">{t("Why you think so")}</span>
      <textarea
        rows={3}
        maxLength={1_000}
        value={props.reason}
        onInput={(event) => props.onReason(event.currentTarget.value)}
      />
      <span class="note">
        {t("The operator sees the domain and this text, not the part before the @.")}
      </span>
    </label>
  );
}

function WrongDialog(props: {
  entry: string;
  step: CheckStep;
  onClose: () => void;
  onSent: () => void;
}): VNode {
  const { entry, step, onClose, onSent } = props;
  const [wrong, setWrong] = useState("disposable");
  const [reason, setReason] = useState("");
  const { busy, fault, run } = useAction();
  const submit = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      await reportEntry(entry, wrong, reason.trim());
      announce(t("Reported. The operator decides."));
      onClose();
      onSent();
    });
  };
  return (
    <Dialog title={t("What is wrong with this result?")} onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        <fieldset class="choices">
          <legend class="unseen">{t("What is wrong")}</legend>
          {choicesOf(step).map(([field, words]) => (
            <label key={field} class="choice">
              <input
                type="radio"
                name="wrong"
                checked={wrong === field}
                onChange={() => setWrong(field)}
              />
              <span>{words}</span>
            </label>
          ))}
        </fieldset>
        <Reason reason={reason} onReason={setReason} />
        <Fault text={fault} />
        <FormFoot act={t("Report it")} disabled={busy} onClose={onClose} />
      </form>
    </Dialog>
  );
}

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Key } from "../../api/shapes.ts";
import { announce } from "../../app/announce.ts";
import { t } from "../../app/i18n.ts";
import { useAction } from "../../app/load.ts";
import { Dialog, FormFoot } from "../../parts/dialog.tsx";
import { TextField } from "../../parts/field.tsx";
import { Fault } from "../../parts/states.tsx";

/** "https://a.example, https://b.example" or one a line. */
export const originsIn = (text: string): readonly string[] =>
  text.split(/[\s,]+/).filter((origin) => origin !== "");

/** The web addresses whose pages may use a publishable key. */
export function OriginsField(props: { value: string; onValue: (text: string) => void }): VNode {
  return (
    <TextField
      label={t("Origins")}
      value={props.value}
      onValue={props.onValue}
      hint={t("Where your pages are served, one a line: https, host and port, without a path.")}
      placeholder="https://shop.example"
    />
  );
}

/** Replaces the origins of a publishable key. */
export function OriginsDialog(props: {
  known: Key;
  onClose: () => void;
  onDone: () => void;
}): VNode {
  const { known, onClose, onDone } = props;
  const [text, setText] = useState((known.origins ?? []).join("\n"));
  const { busy, fault, run } = useAction();
  const submit = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      await call("POST", `keys/${known.id}/origins`, { origins: originsIn(text) });
      announce(t("Origins saved."));
      onDone();
      onClose();
    });
  };
  return (
    <Dialog title={t("Origins of {name}", { name: known.name })} onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        <OriginsField value={text} onValue={setText} />
        <Fault text={fault} />
        <FormFoot act={t("Save")} disabled={busy} onClose={onClose} />
      </form>
    </Dialog>
  );
}

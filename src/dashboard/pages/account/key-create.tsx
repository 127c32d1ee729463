import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { announce } from "../../app/announce.ts";
import type { MadeKey } from "../../app/fresh-key.ts";
import { t } from "../../app/i18n.ts";
import { useAction } from "../../app/load.ts";
import { session } from "../../app/session.ts";
import { Dialog, FormFoot } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { Fault } from "../../parts/states.tsx";
import { OriginsField, originsIn } from "./key-origins.tsx";

const KINDS = [
  ["secret", "Secret key", "For programs on your servers. It may ask everything."],
  [
    "publishable",
    "Publishable key",
    "For the sign-up form of a web page. It asks for decisions only, from your origins only.",
  ],
] as const;
type Kind = (typeof KINDS)[number][0];

/** A name, and for a publishable key the pages that may use it. */
export function CreateKey(props: {
  onClose: () => void;
  onCreated: (key: MadeKey) => void;
}): VNode {
  const [name, setName] = useState("");
  const [kind, setKind] = useState<Kind>("secret");
  const [origins, setOrigins] = useState("");
  const { busy, fault, run } = useAction();
  const submit = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      const order = kind === "secret" ? { name } : { name, origins: originsIn(origins) };
      props.onCreated(await call<MadeKey>("POST", "keys", order));
      announce(t("Key created. It is shown once, at the top of the page."));
    });
  };
  return (
    <Dialog title={t("Create a key")} onClose={props.onClose}>
      <form class="stack" onSubmit={submit}>
        <Field
          label={t("Name")}
          value={name}
          onValue={setName}
          hint={t("Where it will be used, so that you can tell your keys apart.")}
          input={{
            maxLength: 100,
            placeholder: t("Sign-up form, staging"),
            autocomplete: "off",
          }}
        />
        {session.value?.parts.includes("gate") === true ? (
          <KindChoice kind={kind} onKind={setKind} />
        ) : null}
        {kind === "publishable" ? <OriginsField value={origins} onValue={setOrigins} /> : null}
        <Fault text={fault} />
        <FormFoot act={t("Create")} disabled={busy} onClose={props.onClose} />
      </form>
    </Dialog>
  );
}

function KindChoice({ kind, onKind }: { kind: Kind; onKind: (kind: Kind) => void }): VNode {
  return (
    <fieldset class="choices">
      <legend class="label">{t("Kind")}</legend>
      {KINDS.map(([name, words, means]) => (
        <label key={name} class="choice">
          <input type="radio" name="kind" checked={kind === name} onChange={() => onKind(name)} />
          <span>
            {t(words)} <span class="note">{t(means)}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

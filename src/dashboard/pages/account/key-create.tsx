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
import { PolicyChoice } from "../webhooks/hook-create.tsx";
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

/** As typed. */
interface Page {
  readonly origins: string;
  readonly policy: string;
  readonly form: string;
  readonly daily: string;
}

const termsOf = ({ origins, policy, form, daily }: Page) => ({
  origins: originsIn(origins),
  policy,
  ...(form.trim() !== "" && { form }),
  ...(daily.trim() !== "" && { daily: Number(daily) }),
});

/** A name, and for a publishable key the pages that may use it. */
export function CreateKey(props: {
  onClose: () => void;
  onCreated: (key: MadeKey) => void;
}): VNode {
  const [name, setName] = useState("");
  const [kind, setKind] = useState<Kind>("secret");
  const [page, setPage] = useState<Page>({ origins: "", policy: "default", form: "", daily: "" });
  const { busy, fault, run } = useAction();
  const submit = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      const order = kind === "secret" ? { name } : { name, ...termsOf(page) };
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
        {kind === "publishable" ? <PageFields page={page} onPage={setPage} /> : null}
        <Fault text={fault} />
        <FormFoot act={t("Create")} disabled={busy} onClose={props.onClose} />
      </form>
    </Dialog>
  );
}

/** What is fixed with a publishable key, because everybody can read it in the page. */
function PageFields({ page, onPage }: { page: Page; onPage: (page: Page) => void }): VNode {
  const set = (more: Partial<Page>): void => onPage({ ...page, ...more });
  return (
    <>
      <OriginsField value={page.origins} onValue={(origins) => set({ origins })} />
      <PolicyChoice value={page.policy} onValue={(policy) => set({ policy })} />
      <Field
        label={t("Form")}
        value={page.form}
        onValue={(form) => set({ form })}
        hint={t("A label for counts and tokens. It may be empty.")}
        input={{ maxLength: 64, autocomplete: "off" }}
      />
      <Field
        label={t("Decisions a day")}
        value={page.daily}
        onValue={(daily) => set({ daily })}
        hint={t("Beyond them, format, lists and rules decide without DNS. Empty means 2,000.")}
        input={{ type: "number", min: 1, step: 1 }}
      />
    </>
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

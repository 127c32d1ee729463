import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Key } from "../../api/shapes.ts";
import { announce } from "../../app/announce.ts";
import { freshKey, type MadeKey } from "../../app/fresh-key.ts";
import { useAction, useLoad } from "../../app/load.ts";
import { Secret } from "../../parts/copy.tsx";
import { Confirm, Dialog, FormFoot } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { Empty, Fault, Shown } from "../../parts/states.tsx";
import { t, tx } from "../../app/i18n.ts";
import { Time } from "../../parts/time.tsx";

export function KeysPage(): VNode {
  const loading = useLoad<{ readonly keys: readonly Key[] }>("keys");
  const [isCreating, setCreating] = useState(false);
  const [made, setMade] = useState<MadeKey>();
  const [revoking, setRevoking] = useState<Key>();
  const create = (): void => setCreating(true);
  const created = (key: MadeKey): void => {
    setMade(key);
    freshKey.value = key;
    setCreating(false);
    loading.reload();
  };
  const revoked = ({ id }: Key): void => {
    if (made?.id === id) setMade(undefined);
    if (freshKey.value?.id === id) freshKey.value = undefined;
    loading.reload();
  };
  return (
    <>
      <PageHead
        title={t("Keys")}
        lead={t(
          "A key lets your programs use the API as this account. All keys share one allowance. Keep them on your servers, never in a page or an app.",
        )}
      >
        <button type="button" class="main" onClick={create}>
          {t("Create a key")}
        </button>
      </PageHead>
      {made === undefined ? null : (
        <Secret title={t("Your new key")} value={made.api_key} onDone={() => setMade(undefined)} />
      )}
      <section class="sheet">
        <Shown loading={loading} lines={4}>
          {({ keys }) =>
            keys.length === 0 ? <NoKeys /> : <KeyTable keys={keys} onRevoke={setRevoking} />
          }
        </Shown>
      </section>
      {isCreating ? <CreateKey onClose={() => setCreating(false)} onCreated={created} /> : null}
      {revoking === undefined ? null : (
        <RevokeKey
          known={revoking}
          onClose={() => setRevoking(undefined)}
          onDone={() => revoked(revoking)}
        />
      )}
    </>
  );
}

function NoKeys(): VNode {
  return (
    <Empty title={t("No keys yet")}>
      <p>
        {tx(
          "Create one, put it into your server's settings, and send it as the header {code}. The {link} has ready code.",
          { code: <code>X-Api-Key</code>, link: <a href="/guide">{t("guide")}</a> },
        )}
      </p>
    </Empty>
  );
}

function KeyTable(props: { keys: readonly Key[]; onRevoke: (key: Key) => void }): VNode {
  return (
    <div class="scroll">
      <table class="folds">
        <thead>
          <tr>
            <th scope="col">{t("Name")}</th>
            <th scope="col">{t("Key")}</th>
            <th scope="col">{t("Created")}</th>
            <th scope="col">{t("Last used")}</th>
            <th scope="col">
              <span class="unseen">{t("Revoke")}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {props.keys.map((key) => (
            <KeyRow key={key.id} known={key} onRevoke={props.onRevoke} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function KeyRow({ known, onRevoke }: { known: Key; onRevoke: (key: Key) => void }): VNode {
  return (
    <tr>
      <td class="break">{known.name === "" ? t("Unnamed") : known.name}</td>
      <td class="mono key-ends">
        {known.prefix}…{known.last_four}
      </td>
      <td data-label={t("Created")}>
        <Time at={known.created_at} />
      </td>
      <td data-label={t("Last used")}>
        <Time at={known.last_used_at} />
      </td>
      <td class="act">
        {known.revoked_at === null ? (
          <button type="button" class="small grave" onClick={() => onRevoke(known)}>
            {t("Revoke")}
            <span class="unseen"> {known.name}</span>
          </button>
        ) : (
          <span class="note">{tx("Revoked {time}", { time: <Time at={known.revoked_at} /> })}</span>
        )}
      </td>
    </tr>
  );
}

function CreateKey(props: { onClose: () => void; onCreated: (key: MadeKey) => void }): VNode {
  const [name, setName] = useState("");
  const { busy, fault, run } = useAction();
  const submit = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      props.onCreated(await call<MadeKey>("POST", "keys", { name }));
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
          input={{ maxLength: 100, placeholder: t("Sign-up form, staging"), autocomplete: "off" }}
        />
        <Fault text={fault} />
        <FormFoot act={t("Create")} disabled={busy} onClose={props.onClose} />
      </form>
    </Dialog>
  );
}

function RevokeKey(props: { known: Key; onClose: () => void; onDone: () => void }): VNode {
  const { known } = props;
  const revoke = async (): Promise<void> => {
    await call("DELETE", `keys/${known.id}`);
    announce(t("Key revoked."));
    props.onDone();
  };
  return (
    <Confirm
      title={t("Revoke this key?")}
      act={t("Revoke the key")}
      work={revoke}
      onClose={props.onClose}
    >
      {tx(
        "Programs that use {name} ({code}) are refused within 5 seconds. A revoked key cannot be brought back.",
        {
          name: known.name === "" ? t("it") : `“${known.name}”`,
          code: (
            <code>
              {known.prefix}…{known.last_four}
            </code>
          ),
        },
      )}
    </Confirm>
  );
}

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Key } from "../../api/shapes.ts";
import { announce } from "../../app/announce.ts";
import { freshKey, type MadeKey } from "../../app/fresh-key.ts";
import { t, tx } from "../../app/i18n.ts";
import { useLoad } from "../../app/load.ts";
import { session } from "../../app/session.ts";
import { Secret } from "../../parts/copy.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { Shown } from "../../parts/states.tsx";
import { Time } from "../../parts/time.tsx";
import { CreateKey } from "./key-create.tsx";
import { FirstRequest, Samples, WidgetSample } from "./key-use.tsx";
import { OriginsDialog } from "./key-origins.tsx";
import { TokenSecret } from "./token-secret.tsx";
import { checkSamples } from "../../words/samples.ts";

/** What is asked in a dialog: a new key, or one that is there. */
type Asked =
  { readonly what: "create" } | { readonly what: "revoke" | "origins"; readonly key: Key };

export function KeysPage(): VNode {
  const loading = useLoad<{ readonly keys: readonly Key[] }>("keys");
  const [asked, setAsked] = useState<Asked>();
  const [made, setMade] = useState<MadeKey>();
  const close = (): void => setAsked(undefined);
  const created = (key: MadeKey): void => {
    setMade(key);
    if (key.origins === undefined) freshKey.value = key;
    close();
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
          "A key lets your programs use the API as this account. All keys share one allowance. Secret keys stay on your servers; a publishable key may stand in a web page.",
        )}
      >
        <button type="button" class="main" onClick={() => setAsked({ what: "create" })}>
          {t("Create a key")}
        </button>
      </PageHead>
      {made === undefined ? null : <Made made={made} onDone={() => setMade(undefined)} />}
      <section class="sheet">
        <Shown loading={loading} lines={4}>
          {({ keys }) =>
            keys.length === 0 ? <NoKeys /> : <KeyTable keys={keys} onAsk={setAsked} />
          }
        </Shown>
      </section>
      {session.value?.parts.includes("gate") === true ? <TokenSecret /> : null}
      {asked?.what === "create" ? <CreateKey onClose={close} onCreated={created} /> : null}
      {asked?.what === "revoke" ? (
        <RevokeKey known={asked.key} onClose={close} onDone={revoked} />
      ) : null}
      {asked?.what === "origins" ? (
        <OriginsDialog known={asked.key} onClose={close} onDone={loading.reload} />
      ) : null}
    </>
  );
}

/** The new key, the request that uses it, and whether that request came. */
function Made({ made, onDone }: { made: MadeKey; onDone: () => void }): VNode {
  const base = session.value?.public_url ?? location.origin;
  const words =
    made.origins && t("Anybody may see it. It is shown once here: copy it into your pages.");
  return (
    <>
      <Secret
        title={t("Your new key")}
        value={made.api_key}
        {...(words && { words })}
        onDone={onDone}
      />
      <section class="sheet stack">
        {made.origins === undefined ? (
          <FirstRequest key={made.id} made={made} base={base} />
        ) : (
          <WidgetSample made={made} base={base} />
        )}
      </section>
    </>
  );
}

/** A request that runs as it stands; with a key it has the account's limits. */
function NoKeys(): VNode {
  const base = session.value?.public_url ?? location.origin;
  return (
    <div class="stack">
      <h2>{t("No keys yet")}</h2>
      <p class="prose">
        {tx(
          "These run without a key, with lower limits. Create a key, put it into your server's settings, and send it as the header {code}. The {link} has more.",
          { code: <code>X-Api-Key</code>, link: <a href="/guide">{t("guide")}</a> },
        )}
      </p>
      <Samples samples={checkSamples(base)} />
    </div>
  );
}

interface Acts {
  onAsk: (asked: Asked) => void;
}

function KeyTable({ keys, onAsk }: Acts & { keys: readonly Key[] }): VNode {
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
          {keys.map((key) => (
            <KeyRow key={key.id} known={key} onAsk={onAsk} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function KeyRow({ known, onAsk }: Acts & { known: Key }): VNode {
  return (
    <tr>
      <td class="break">
        {known.name === "" ? t("Unnamed") : known.name}
        {known.origins === undefined ? null : (
          <div class="note">
            {t("Publishable")}: {known.origins.join(", ")}
          </div>
        )}
      </td>
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
          <span class="bar">
            {known.origins === undefined ? null : (
              <button
                type="button"
                class="small"
                onClick={() => onAsk({ what: "origins", key: known })}
              >
                {t("Origins")}
                <span class="unseen"> {known.name}</span>
              </button>
            )}
            <button
              type="button"
              class="small grave"
              onClick={() => onAsk({ what: "revoke", key: known })}
            >
              {t("Revoke")}
              <span class="unseen"> {known.name}</span>
            </button>
          </span>
        ) : (
          <span class="note">{tx("Revoked {time}", { time: <Time at={known.revoked_at} /> })}</span>
        )}
      </td>
    </tr>
  );
}

function RevokeKey(props: {
  known: Key;
  onClose: () => void;
  onDone: (known: Key) => void;
}): VNode {
  const { known } = props;
  const revoke = async (): Promise<void> => {
    await call("DELETE", `keys/${known.id}`);
    announce(t("Key revoked."));
    props.onDone(known);
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

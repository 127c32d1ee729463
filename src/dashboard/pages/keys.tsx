import type { ComponentChildren, VNode } from "preact";
import { useState } from "preact/hooks";
import { call, post } from "../lib/client.ts";
import { useLoad, useLooks } from "../lib/load.ts";
import { publicUrl } from "../lib/session.ts";
import type { Key } from "../lib/shapes.ts";
import { announce, freshKey, type MadeKey, shownOnce } from "../lib/state.ts";
import { Mark, PageHead, Sheet, Shown, Table, Time } from "../parts/basic.tsx";
import { Ask, Code, type FieldSpec, textField, type Values } from "../parts/form.tsx";
import { curlOf, nodeOf } from "../words/samples.ts";

export interface KnownKeys {
  readonly keys: readonly Key[];
}

export const KEY_NAME = textField(
  "name",
  "Name",
  "Where it will be used, so that you can tell your keys apart.",
  { maxLength: 100, required: true, placeholder: "Shop, staging" },
);

async function create({ name }: Values): Promise<void> {
  const made = await post<MadeKey>("keys", { name });
  freshKey.value = made;
  const more = <FirstRequest key={made.id} made={made} />;
  shownOnce.value = { title: "Your new secret key", value: made.api_key, more };
  announce("Key created. It is shown once, at the top of the page.");
}

/** The account's secret keys. Those that may stand in a page are with the gate. */
export function KeysPage(): VNode {
  return (
    <>
      <PageHead title="Keys" lead={LEAD}>
        <Ask
          act="Create a key"
          class="main"
          title="Create a secret key"
          yes="Create"
          fields={[KEY_NAME]}
          send={create}
        />
      </PageHead>
      <Shown loading={useLoad<KnownKeys>("keys")} lines={4}>
        {({ keys }) => (
          <KeySheet title="Secret keys" keys={keys.filter(({ origins }) => origins === undefined)}>
            Create one for your server. Without a key the API works too, with lower limits.
          </KeySheet>
        )}
      </Shown>
    </>
  );
}

const LEAD = (
  <>
    A secret key lets your servers use the API as this account. All keys share one allowance. Keys
    for web pages are <a href="gate/hooks">with the gate</a>.
  </>
);

/** A ready request with the key in it, and a light that turns green when it came. */
function FirstRequest({ made }: { made: MadeKey }): VNode {
  const [isUsed, setUsed] = useState(false);
  useLooks(!isUsed, async () => {
    const { keys } = await call<KnownKeys>("GET", "keys");
    if (keys.find(({ id }) => id === made.id)?.last_used_at) setUsed(true);
  });
  const light = isUsed ? (
    <Mark mark="yes" words="The first request came" />
  ) : (
    <Mark mark="quiet" words="Waiting for your first request" />
  );
  return (
    <Sheet title="Make the first request" aside={<span role="status">{light}</span>}>
      <Code what="curl" text={curlOf(publicUrl(), "jane@example.org", made.api_key)} />
      <details>
        <summary>The same from JavaScript</summary>
        <Code what="JavaScript" text={nodeOf(publicUrl(), made.api_key)} />
      </details>
    </Sheet>
  );
}

/** Keys of one kind, each to be renamed and revoked. `more`: what publishable keys have beside. */
export function KeySheet(props: {
  title: string;
  keys: readonly Key[];
  more?: (key: Key) => string;
  children: ComponentChildren;
}): VNode {
  const { title, keys, more } = props;
  return (
    <Sheet title={title}>
      <Table
        label={title}
        head={["Name", "Key", "Created", "Last used", ""]}
        none={<>No keys yet. {props.children}</>}
        rows={keys.map((key) => [
          <>
            {nameOf(key)}
            {more === undefined ? null : <div class="note">{more(key)}</div>}
          </>,
          <span class="mono whole">{shortOf(key)}</span>,
          <Time at={key.created_at} />,
          <Time at={key.last_used_at} />,
          key.revoked_at === null ? (
            changesOf(key)
          ) : (
            <span class="note">
              Revoked <Time at={key.revoked_at} />
            </span>
          ),
        ])}
      />
    </Sheet>
  );
}

export const nameOf = ({ name }: Pick<Key, "name">): string => (name === "" ? "Unnamed" : name);

export const shortOf = (key: Pick<Key, "prefix" | "last_four">): string =>
  `${key.prefix}…${key.last_four}`;

export const ORIGINS: FieldSpec = {
  name: "origins",
  label: "Origins",
  hint: "Where your pages are served, one a line: https, host and port, without a path.",
  rows: 3,
  input: { placeholder: "https://shop.example", required: true },
};

/** "https://a.example, https://b.example" or one a line. */
export const originsIn = (text = ""): readonly string[] =>
  text.split(/[\s,]+/).filter((origin) => origin !== "");

function changesOf(key: Key): VNode {
  const { id, name, origins } = key;
  const revoke = async (): Promise<void> => {
    await call("DELETE", `keys/${id}`);
    if (freshKey.value?.id === id) freshKey.value = shownOnce.value = undefined;
    announce("Key revoked.");
  };
  return (
    <span class="bar">
      <Ask
        {...{ act: "Rename", of: name, yes: "Save the name" }}
        title="Rename the key"
        fields={[{ ...KEY_NAME, value: name }]}
        send={(values) => post(`keys/${id}/name`, values)}
      />
      {origins === undefined ? null : (
        <Ask
          {...{ act: "Origins", of: name, yes: "Save the origins" }}
          title={`Origins of ${name}`}
          fields={[{ ...ORIGINS, value: origins.join("\n") }]}
          send={(values) => post(`keys/${id}/origins`, { origins: originsIn(values["origins"]) })}
        />
      )}
      <Ask
        {...{ act: "Revoke", of: name, class: "small grave", yes: "Revoke the key" }}
        title="Revoke this key?"
        send={revoke}
      >
        What uses “{name}” (<code>{shortOf(key)}</code>) is refused within 5 seconds. A revoked key
        cannot be brought back.
      </Ask>
    </span>
  );
}

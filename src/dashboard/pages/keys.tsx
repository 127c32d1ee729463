import type { ComponentChildren, VNode } from "preact";
import { useState } from "preact/hooks";
import { call, post } from "../lib/client.ts";
import { useLoad, useLooks } from "../lib/load.ts";
import { publicUrl } from "../lib/session.ts";
import type { Key } from "../lib/shapes.ts";
import { announce, freshKey, type MadeKey } from "../lib/state.ts";
import { Empty, Mark, PageHead, Sheet, Shown, Table, Time } from "../parts/basic.tsx";
import { Ask, Code, type FieldSpec, FormDialog, Secret, type Values } from "../parts/form.tsx";
import { curlOf, nodeOf } from "../words/samples.ts";

export interface KnownKeys {
  readonly keys: readonly Key[];
}

export const KEY_NAME: FieldSpec = {
  name: "name",
  label: "Name",
  hint: "Where it will be used, so that you can tell your keys apart.",
  input: { maxLength: 100, required: true, autocomplete: "off", placeholder: "Shop, staging" },
};

/** The account's secret keys. Those that may stand in a page are with the gate. */
export function KeysPage(): VNode {
  const loading = useLoad<KnownKeys>("keys");
  const [made, setMade] = useState<MadeKey>();
  const create = async ({ name }: Values): Promise<void> => {
    const key = await post<MadeKey>("keys", { name });
    setMade(key);
    freshKey.value = key;
    announce("Key created. It is shown once, at the top of the page.");
    loading.reload();
  };
  const revoked = ({ id }: Key): void => {
    if (made?.id === id) setMade(undefined);
    if (freshKey.value?.id === id) freshKey.value = undefined;
    loading.reload();
  };
  return (
    <>
      <PageHead title="Keys" lead={LEAD}>
        <FormDialog
          act="Create a key"
          class="main"
          title="Create a secret key"
          yes="Create"
          fields={[KEY_NAME]}
          send={create}
        />
      </PageHead>
      {made && (
        <Secret
          title="Your new secret key"
          value={made.api_key}
          onDone={() => setMade(undefined)}
        />
      )}
      {made && <FirstRequest key={made.id} made={made} />}
      <Shown loading={loading} lines={4}>
        {({ keys }) => (
          <KeySheet
            title="Secret keys"
            keys={keys.filter(({ origins }) => origins === undefined)}
            onChange={loading.reload}
            onRevoked={revoked}
          >
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
  return (
    <Sheet
      title="Make the first request"
      aside={
        <span role="status">
          <Mark
            mark={isUsed ? "yes" : "quiet"}
            words={isUsed ? "The first request came" : "Waiting for your first request"}
          />
        </span>
      }
    >
      <Code what="curl" text={curlOf(publicUrl(), "jane@example.org", made.api_key)} />
      <details>
        <summary>The same from JavaScript</summary>
        <Code what="JavaScript" text={nodeOf(publicUrl(), made.api_key)} />
      </details>
    </Sheet>
  );
}

/** Keys of one kind, each to be renamed and revoked. */
export function KeySheet(props: {
  title: string;
  keys: readonly Key[];
  onChange: () => void;
  onRevoked: (key: Key) => void;
  /** What publishable keys have beside. */
  more?: (key: Key) => ComponentChildren;
  children: ComponentChildren;
}): VNode {
  const { title, keys, onChange, onRevoked, more } = props;
  const cells = (key: Key): readonly ComponentChildren[] => [
    <>
      {key.name === "" ? "Unnamed" : key.name}
      {more === undefined ? null : <div class="note">{more(key)}</div>}
    </>,
    <span class="mono whole">
      {key.prefix}…{key.last_four}
    </span>,
    <Time at={key.created_at} />,
    <Time at={key.last_used_at} />,
    key.revoked_at === null ? (
      <Changes known={key} {...{ onChange, onRevoked }} />
    ) : (
      <span class="note">
        Revoked <Time at={key.revoked_at} />
      </span>
    ),
  ];
  return (
    <Sheet title={title}>
      {keys.length === 0 ? (
        <Empty title="No keys yet">{props.children}</Empty>
      ) : (
        <Table
          label={title}
          head={["Name", "Key", "Created", "Last used", ""]}
          rows={keys.map(cells)}
        />
      )}
    </Sheet>
  );
}

/** The web addresses whose pages may use a publishable key. */
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

function Changes(props: {
  known: Key;
  onChange: () => void;
  onRevoked: (key: Key) => void;
}): VNode {
  const { known, onChange, onRevoked } = props;
  const { id, name, origins } = known;
  const save = async (what: "name" | "origins", value: unknown): Promise<void> => {
    await post(`keys/${id}/${what}`, { [what]: value });
    onChange();
  };
  const revoke = async (): Promise<void> => {
    await call("DELETE", `keys/${id}`);
    announce("Key revoked.");
    onRevoked(known);
  };
  return (
    <span class="bar">
      <FormDialog
        act="Rename"
        of={name}
        title="Rename the key"
        yes="Save the name"
        fields={[{ ...KEY_NAME, value: name }]}
        send={(values) => save("name", values["name"])}
      />
      {origins === undefined ? null : (
        <FormDialog
          act="Origins"
          of={name}
          title={`Origins of ${name}`}
          yes="Save the origins"
          fields={[{ ...ORIGINS, value: origins.join("\n") }]}
          send={(values) => save("origins", originsIn(values["origins"]))}
        />
      )}
      <Ask
        act="Revoke"
        of={name}
        class="small grave"
        title="Revoke this key?"
        yes="Revoke the key"
        work={revoke}
      >
        What uses “{name}” (
        <code>
          {known.prefix}…{known.last_four}
        </code>
        ) is refused within 5 seconds. A revoked key cannot be brought back.
      </Ask>
    </span>
  );
}

import type { ComponentChildren, VNode } from "preact";
import type { Key } from "../../http/account/shapes.ts";
import { post, remove } from "../lib/client.ts";
import { useLoad, usePolling } from "../lib/load.ts";
import { session } from "../lib/session.ts";
import { dropSecret, type MadeKey, showOnce } from "../lib/state.ts";
import { Act } from "../parts/act.tsx";
import { Code } from "../parts/button.tsx";
import { type FieldSpec, textField, type FormValues } from "../parts/form.tsx";
import { Mark, noted, Time } from "../parts/marks.tsx";
import { Loaded, PageHead, Sheet } from "../parts/page.tsx";
import { TableSheet } from "../parts/rows.tsx";
import { curlOf } from "../words/samples.ts";

export interface KeysPage {
  readonly keys: readonly Key[];
}

export const KEY_NAME = textField(
  "name",
  "Name",
  "Where it will be used, so that you can tell your keys apart.",
  { maxLength: 100, required: true, placeholder: "Shop, staging" },
);

async function create(values: FormValues): Promise<void> {
  const made = await post<MadeKey>("keys", values);
  const more = <FirstRequest key={made.id} {...made} />;
  showOnce({ id: made.id, title: "Your new secret key", value: made.api_key, more });
}

export const Page = (): VNode => (
  <>
    <PageHead
      title="Keys"
      lead={
        <>
          A secret key lets your servers use the API as this account. All keys share one allowance.
          Keys for web pages are <a href="gate/hooks">with the gate</a>.
        </>
      }
    >
      <Act {...{ act: "Create a key", class: "main", fields: [KEY_NAME], send: create }} />
    </PageHead>
    <Loaded path="keys" lines={4}>
      {({ keys }: KeysPage) => (
        <KeySheet title="Secret keys" keys={keys.filter(({ origins }) => origins === undefined)}>
          Create one for your server. Without a key the API works too, with lower limits.
        </KeySheet>
      )}
    </Loaded>
  </>
);

function FirstRequest({ id, api_key: key }: MadeKey): VNode {
  const { value, reload } = useLoad<KeysPage>("keys", 0);
  const isUsed = value?.keys.some((one) => one.id === id && one.last_used_at !== null) === true;
  usePolling(!isUsed, reload);
  const words = isUsed ? "The first request came" : "Waiting for your first request";
  const light = <Mark mark={isUsed ? "yes" : "quiet"} words={words} />;
  return (
    <Sheet title="Make the first request" aside={<span role="status">{light}</span>}>
      <Code what="curl" text={curlOf(session.value.public_url, "jane@example.org", key)} />
    </Sheet>
  );
}

interface KeySheetProps extends KeysPage {
  title: string;
  more?: (key: Key) => string;
  children: ComponentChildren;
}

export const KeySheet = ({ title, keys, more, children }: KeySheetProps): VNode => (
  <TableSheet
    title={title}
    head={["Name", "Key", "Created", "Last used", ""]}
    none={<>No keys yet. {children}</>}
    rows={keys.map((key) => [
      noted(nameOf(key), more?.(key)),
      <span class="mono whole">{shortOf(key)}</span>,
      <Time at={key.created_at} />,
      <Time at={key.last_used_at} />,
      key.revoked_at ? <Time words="Revoked" at={key.revoked_at} /> : changesOf(key),
    ])}
  />
);

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

export const originsIn = ({ origins = "" }: FormValues): readonly string[] =>
  origins.split(/[\s,]+/).filter((origin) => origin !== "");

function changesOf(key: Key): VNode {
  const { id, name: of } = key;
  return (
    <span class="bar">
      <Act
        {...{ act: "Rename", of, fields: [{ ...KEY_NAME, value: of }] }}
        send={(values) => post(`keys/${id}/name`, values)}
      />
      <Act
        {...{ act: "Revoke", of, class: "small grave" }}
        send={() => remove(`keys/${id}`).then(() => dropSecret(id))}
        said="The key is revoked."
      >
        What uses “{of}” (<code>{shortOf(key)}</code>) is refused within 5 seconds. A revoked key
        cannot be brought back.
      </Act>
    </span>
  );
}

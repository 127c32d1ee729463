import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import { type OpenPolicy, type Policy, type PolicyDocument, shadowPolicy } from "../../api/gate.ts";
import { announce } from "../../app/announce.ts";
import { t } from "../../app/i18n.ts";
import { useAction, useLoad } from "../../app/load.ts";
import { PageHead } from "../../parts/page-head.tsx";
import { Fault, Shown } from "../../parts/states.tsx";
import { BackTest } from "./policy-back-test.tsx";
import { Publish } from "./policy-publish.tsx";
import { Effect } from "./policy-effect.tsx";
import { Rules } from "./policy-rules.tsx";
import { TryPolicy } from "./policy-try.tsx";
import { Versions } from "./policy-versions.tsx";

/** What a form does with a new address: one policy at a time, the default first. */
export function PolicyPage(): VNode {
  const list = useLoad<{ readonly policies: readonly Policy[] }>("policies");
  const [name, setName] = useState("default");
  return (
    <Shown loading={list} lines={8}>
      {({ policies }) => (
        <Opened
          key={name}
          name={name}
          names={policies.map((policy) => policy.name)}
          onName={setName}
          onChange={list.reload}
        />
      )}
    </Shown>
  );
}

interface OpenedProps {
  name: string;
  names: readonly string[];
  onName: (name: string) => void;
  onChange: () => void;
}

function Opened(props: OpenedProps): VNode {
  const loading = useLoad<OpenPolicy>(`policies/${encodeURIComponent(props.name)}`);
  const [turn, setTurn] = useState(0);
  const changed = (): void => {
    setTurn(turn + 1);
    loading.reload();
    props.onChange();
  };
  return (
    <Shown loading={loading} lines={8}>
      {(policy) => (
        <Editor
          key={`${String(policy.version)} ${String(policy.shadow)} ${String(turn)}`}
          policy={policy}
          {...props}
          onChange={changed}
        />
      )}
    </Shown>
  );
}

function Editor({ policy, names, onName, onChange }: OpenedProps & { policy: OpenPolicy }): VNode {
  const [draft, setDraft] = useState<PolicyDocument>(policy.document);
  const action = useAction();
  const { busy, fault, run } = action;
  const isChanged = useMemo(
    () => JSON.stringify(draft) !== JSON.stringify(policy.document),
    [draft],
  );
  const runInShadow = (): void =>
    run(async () => {
      await shadowPolicy(policy.name, draft);
      announce(t("The draft runs in the shadow."));
      onChange();
    });
  return (
    <>
      <PageHead title={t("Sign-up policy")} lead={leadOf(policy)}>
        {names.length < 2 ? null : <Names names={names} name={policy.name} onName={onName} />}
        <button type="button" disabled={busy || !isChanged} onClick={runInShadow}>
          {t("Run in shadow")}
        </button>
        <Publish {...{ policy, draft, action, isChanged, onChange }} />
      </PageHead>
      <Fault text={fault} />
      {policy.shadow === null ? null : <Effect policy={policy} onChange={onChange} />}
      <div class="two start">
        <div class="stack wide">
          <Rules draft={draft} live={policy.document} onDraft={setDraft} />
          <BackTest name={policy.name} draft={draft} />
        </div>
        <div class="stack wide stays">
          <TryPolicy name={policy.name} draft={draft} />
          <Versions policy={policy} onUse={setDraft} />
        </div>
      </div>
    </>
  );
}

function leadOf({ live, shadow, built_in: isBuiltIn }: OpenPolicy): string {
  if (shadow !== null) {
    return t(
      "What your form does with a new address. Version {live} is live; {shadow} runs in its shadow and decides nothing yet.",
      { live, shadow },
    );
  }
  return isBuiltIn
    ? t(
        "What your form does with a new address. These rules come with Gatepost; change them and publish your own.",
      )
    : t("What your form does with a new address. Version {live} is live.", { live });
}

function Names(props: {
  names: readonly string[];
  name: string;
  onName: (name: string) => void;
}): VNode {
  return (
    <select
      class="kind"
      aria-label={t("Which policy")}
      value={props.name}
      onChange={(event) => props.onName(event.currentTarget.value)}
    >
      {props.names.map((name) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  );
}

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { HooksState, MadeHook, Policy } from "../../api/gate.ts";
import { announce } from "../../app/announce.ts";
import { t } from "../../app/i18n.ts";
import { useAction, useLoad } from "../../app/load.ts";
import { Dialog, FormFoot } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { Fault } from "../../parts/states.tsx";

/** This system signs with a key of its own, which has an address. */
const WITH_KEYS = "neon";

interface Order {
  readonly system: string;
  readonly policy: string;
  readonly challenge: string;
  readonly jwks_url: string;
}

const bodyOf = ({ jwks_url: keys, ...rest }: Order): Partial<Order> =>
  rest.system === WITH_KEYS ? { ...rest, jwks_url: keys } : rest;

/** Which system asks, which policy answers, and what an open question becomes. */
export function CreateHook(props: {
  systems: HooksState["systems"];
  onClose: () => void;
  onCreated: (hook: MadeHook) => void;
}): VNode {
  const { systems, onClose, onCreated } = props;
  const [order, setOrder] = useState<Order>({
    system: systems[0]?.id ?? "",
    policy: "default",
    challenge: "accept",
    jwks_url: "",
  });
  const { busy, fault, run } = useAction();
  const set = (more: Partial<Order>): void => setOrder({ ...order, ...more });
  const submit = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      onCreated(await call<MadeHook>("POST", "hooks", bodyOf(order)));
      announce(t("Hook created."));
    });
  };
  return (
    <Dialog title={t("Create a hook")} onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        <Choice
          label={t("Identity system")}
          value={order.system}
          onValue={(system) => set({ system })}
          choices={systems.map(({ id, name }) => [id, name])}
        />
        <PolicyChoice value={order.policy} onValue={(policy) => set({ policy })} />
        <Choice
          label={t("When the policy says “ask again” or “review”")}
          value={order.challenge}
          onValue={(challenge) => set({ challenge })}
          choices={[
            ["accept", t("Accept the person")],
            ["reject", t("Refuse the person")],
          ]}
        />
        {order.system === WITH_KEYS ? (
          <KeysField value={order.jwks_url} onValue={(text) => set({ jwks_url: text.trim() })} />
        ) : null}
        <Fault text={fault} />
        <FormFoot act={t("Create")} disabled={busy} onClose={onClose} />
      </form>
    </Dialog>
  );
}

function KeysField(props: { value: string; onValue: (text: string) => void }): VNode {
  return (
    <Field
      label={t("Address of its public keys")}
      {...props}
      hint={t("The JWKS address that the system names. It must start with https.")}
      input={{ type: "url", class: "mono", required: true, maxLength: 600 }}
    />
  );
}

/** The account's policies, `default` included. */
export function PolicyChoice(props: { value: string; onValue: (name: string) => void }): VNode {
  const { loaded } = useLoad<{ readonly policies: readonly Policy[] }>("policies");
  const names = loaded.state === "ready" ? loaded.value.policies.map(({ name }) => name) : [];
  const all = names.includes("default") ? names : ["default", ...names];
  return <Choice label={t("Policy")} {...props} choices={all.map((name) => [name, name])} />;
}

function Choice(props: {
  label: string;
  value: string;
  onValue: (value: string) => void;
  choices: readonly (readonly [value: string, words: string])[];
}): VNode {
  return (
    <label class="field">
      <span class="label">{props.label}</span>
      <select value={props.value} onChange={(event) => props.onValue(event.currentTarget.value)}>
        {props.choices.map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

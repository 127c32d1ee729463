import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { useAction } from "../../app/load.ts";
import { doorTo, go, path, wantedPage } from "../../app/router.ts";
import { loadSession, session, signInReason } from "../../app/session.ts";
import { Field } from "../../parts/field.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { t, tx } from "../../app/i18n.ts";
import { Fault } from "../../parts/states.tsx";

/** Signs in and stays on the page that was asked for, or goes to the first one. */
export function SignInPage(): VNode {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const { busy, fault, run } = useAction();
  const submit = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      await call("POST", "sign-in", { email, password });
      signInReason.value = "";
      await loadSession();
      if (path.value.startsWith("/sign-")) go(wantedPage("/"));
    });
  };
  return (
    <div class="gate">
      <PageHead title={t("Sign in")} />
      {signInReason.value === "" ? null : <p class="notice">{signInReason.value}</p>}
      <form class="sheet stack" onSubmit={submit}>
        <Credentials email={email} onEmail={setEmail}>
          <Field
            label={t("Password")}
            value={password}
            onValue={setPassword}
            input={{ type: "password", autocomplete: "current-password", required: true }}
          />
        </Credentials>
        <Fault text={fault} />
        <button type="submit" class="main" disabled={busy}>
          {busy ? t("Signing in…") : t("Sign in")}
        </button>
      </form>
      {session.value?.signup === "open" ? (
        <p>
          {tx("No account yet? {link}", {
            link: <a href={doorTo("/sign-up")}>{t("Create one")}</a>,
          })}
        </p>
      ) : (
        <p class="note">{t("Accounts are made by the operator of this service.")}</p>
      )}
    </div>
  );
}

function Credentials(props: {
  email: string;
  onEmail: (email: string) => void;
  children: VNode;
}): VNode {
  return (
    <>
      <Field
        label={t("Email address")}
        value={props.email}
        onValue={props.onEmail}
        input={{ type: "email", autocomplete: "username", required: true, maxLength: 254 }}
      />
      {props.children}
    </>
  );
}

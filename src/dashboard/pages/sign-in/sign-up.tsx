import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { ApiFault, call } from "../../api/client.ts";
import { useAction } from "../../app/load.ts";
import { doorTo, go, wantedPage } from "../../app/router.ts";
import { loadSession, session } from "../../app/session.ts";
import { Field } from "../../parts/field.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { Fault } from "../../parts/states.tsx";
import { t, tx } from "../../app/i18n.ts";
import { PASSWORD_HINT, passwordInput } from "../../words/password.ts";

/** Makes an account. The server's answer is the same whether or not the address is known. */
export function SignUpPage(): VNode {
  if (session.value?.signup === "closed") return <Closed />;
  return (
    <div class="gate">
      <PageHead
        title={t("Create an account")}
        lead={t("Free: keys for your programs, higher limits, and the figures of your use.")}
      />
      <SignUpForm />
      <p>{tx("You have one? {link}", { link: <a href={doorTo("/sign-in")}>{t("Sign in")}</a> })}</p>
    </div>
  );
}

function Closed(): VNode {
  return (
    <div class="gate">
      <PageHead title={t("Accounts are made by the operator")} />
      <p class="prose">
        {tx(
          "Sign-up is closed here. Ask the operator of this service for an account, then {link}.",
          { link: <a href="/sign-in">{t("sign in")}</a> },
        )}
      </p>
    </div>
  );
}

/** The answer to signing up does not tell whether the address was known; a wrong password then does. */
async function enter(email: string, password: string): Promise<void> {
  try {
    await call("POST", "sign-in", { email, password });
  } catch (error) {
    if (!(error instanceof ApiFault && error.status === 401)) throw error;
    throw new ApiFault(401, t("You may have an account already. Sign in with its password."));
  }
}

function SignUpForm(): VNode {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const { busy, fault, run } = useAction();
  const submit = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      await call("POST", "sign-up", { email, password });
      await enter(email, password);
      await loadSession();
      go(wantedPage("/keys"));
    });
  };
  return (
    <form class="sheet stack" onSubmit={submit}>
      <Field
        label={t("Email address")}
        value={email}
        onValue={setEmail}
        hint={t("You sign in with it. No mail is sent to it.")}
        input={{ type: "email", autocomplete: "username", required: true, maxLength: 254 }}
      />
      <Field
        label={t("Password")}
        value={password}
        onValue={setPassword}
        hint={t(PASSWORD_HINT)}
        input={passwordInput("new-password")}
      />
      <Fault text={fault} />
      <button type="submit" class="main" disabled={busy}>
        {busy ? t("Creating…") : t("Create the account")}
      </button>
    </form>
  );
}

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { ApiFault, call } from "../../api/client.ts";
import { useAction } from "../../app/load.ts";
import { doorTo, go, wantedPage } from "../../app/router.ts";
import { loadSession, session } from "../../app/session.ts";
import { Field } from "../../parts/field.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { Fault } from "../../parts/states.tsx";
import { PASSWORD_HINT, passwordInput } from "../../words/password.ts";

/** Makes an account. The server's answer is the same whether or not the address is known. */
export function SignUpPage(): VNode {
  if (session.value?.signup === "closed") return <Closed />;
  return (
    <div class="gate">
      <PageHead
        title="Create an account"
        lead="Free: keys for your programs, higher limits, and the figures of your use."
      />
      <SignUpForm />
      <p>
        You have one? <a href={doorTo("/sign-in")}>Sign in</a>
      </p>
    </div>
  );
}

function Closed(): VNode {
  return (
    <div class="gate">
      <PageHead title="Accounts are made by the operator" />
      <p class="prose">
        Nobody can sign up here. Ask whoever runs this service for an account;{" "}
        <a href="/sign-in">sign in</a> when you have one.
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
    throw new ApiFault(401, "You may have an account already. Sign in with its password.");
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
        label="E-mail address"
        value={email}
        onValue={setEmail}
        hint="You sign in with it. No mail is sent to it."
        input={{ type: "email", autocomplete: "username", required: true, maxLength: 254 }}
      />
      <Field
        label="Password"
        value={password}
        onValue={setPassword}
        hint={PASSWORD_HINT}
        input={passwordInput("new-password")}
      />
      <Fault text={fault} />
      <button type="submit" class="main" disabled={busy}>
        {busy ? "Creating…" : "Create the account"}
      </button>
    </form>
  );
}

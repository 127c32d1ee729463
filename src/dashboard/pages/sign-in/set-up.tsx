import type { ComponentChildren, VNode } from "preact";
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { t, tx } from "../../app/i18n.ts";
import { useAction, useLoad } from "../../app/load.ts";
import { fragment } from "../../app/router.ts";
import { loadSession, session } from "../../app/session.ts";
import { Code } from "../../parts/copy.tsx";
import { Field } from "../../parts/field.tsx";
import { Mark } from "../../parts/mark.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { Fault, Shown } from "../../parts/states.tsx";
import { DnsTest, SignUps } from "./set-up-steps.tsx";
import { PASSWORD_HINT, passwordInput } from "../../words/password.ts";

/** From an empty server to the first check, by the link that the start printed. */
export function SetUpPage(): VNode {
  const [token] = useState(fragment.value);
  const loading = useLoad<{ readonly open: boolean }>("setup");
  const isIn = session.value?.account !== undefined;
  return (
    <div class="set-up">
      <Shown loading={loading} lines={6}>
        {({ open }) =>
          (open && token !== "") || isIn ? <Steps token={token} isIn={isIn} /> : <Stale />
        }
      </Shown>
    </div>
  );
}

function Stale(): VNode {
  return (
    <>
      <PageHead
        title={t("This set-up link no longer works")}
        lead={t(
          "A link works once, for 30 minutes, while there is no account. Start the server again for a new one, or make the administrator there:",
        )}
      />
      <Code
        wrap
        what={t("Command")}
        text="gatepost account create ops@example.com --admin --tier pro"
      />
      <p>
        <a href="/">{t("Go to Check")}</a>
      </p>
    </>
  );
}

type State = "done" | "now" | "next";

function Step(props: {
  number: number;
  state: State;
  title: string;
  children: ComponentChildren;
}): VNode {
  return (
    <li class={`step ${props.state}`}>
      <b class="step-number">{props.number}</b>
      <div class="stack close">
        <h2>{props.title}</h2>
        {props.children}
      </div>
    </li>
  );
}

function Steps({ token, isIn }: { token: string; isIn: boolean }): VNode {
  const after: State = isIn ? "now" : "next";
  return (
    <>
      <PageHead
        title={t("Your server is running. Four steps to the first check.")}
        lead={t("About two minutes. You can change each answer later.")}
      />
      <ol class="steps">
        <Step number={1} state={isIn ? "done" : "now"} title={t("Create the administrator")}>
          {isIn ? (
            <Mark mark="yes" words={t("Account created. The link is used up.")} />
          ) : (
            <Administrator token={token} />
          )}
        </Step>
        <Step number={2} state={after} title={t("Test DNS")}>
          <p class="prose">
            {t("Every verdict rests on DNS, so Gatepost tests your resolvers first.")}
          </p>
          {isIn ? <DnsTest /> : null}
        </Step>
        <Step number={3} state={after} title={t("Who may create an account?")}>
          <SignUps />
        </Step>
        <Step number={4} state={after} title={t("Make the first check")}>
          <div class="bar">
            <a class={isIn ? "button main" : "button"} href="/#someone@mailinator.com">
              {t("Check someone@mailinator.com")}
            </a>
          </div>
          <p class="note">
            {tx("Then: {key}, {guide}.", {
              key: <a href="/keys">{t("create a key")}</a>,
              guide: <a href="/guide">{t("guard a sign-up form")}</a>,
            })}
          </p>
        </Step>
      </ol>
    </>
  );
}

function Administrator({ token }: { token: string }): VNode {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const { busy, fault, run } = useAction();
  const submit = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      await call("POST", "setup", { token, email, password });
      await loadSession();
    });
  };
  return (
    <form class="sheet stack" onSubmit={submit}>
      <Field
        label={t("Email address")}
        value={email}
        onValue={setEmail}
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
      <div>
        <button type="submit" class="main" disabled={busy}>
          {t("Create the administrator")}
        </button>
      </div>
    </form>
  );
}

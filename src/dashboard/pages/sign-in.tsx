import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { post } from "../lib/client.ts";
import { doorTo, fragment, go, path, wantedPage } from "../lib/router.ts";
import { session, signIn, signInReason } from "../lib/session.ts";
import { Go, Mark, PageHead } from "../parts/basic.tsx";
import { EMAIL, Form, newPassword, PASSWORD, type Values } from "../parts/form.tsx";

async function enter({ email, password }: Values): Promise<void> {
  await signIn(email, password);
  if (path.value.startsWith("sign-")) go(wantedPage("./"));
}

export const Page = (): VNode => (
  <div class="gate stack wide">
    <PageHead title="Sign in" />
    {signInReason.value === "" ? null : <p class="notice">{signInReason.value}</p>}
    <Form class="sheet stack" fields={[EMAIL, PASSWORD]} act="Sign in" send={enter} />
    <p class="note">
      Forgot your password? Ask the operator of this service for a link, with which you choose a new
      one.
    </p>
    {session.value.signup === "open" ? (
      <p>
        No account yet? <a href={doorTo("sign-up")}>Create one</a>
      </p>
    ) : (
      <p class="note">Accounts are made by the operator of this service.</p>
    )}
  </div>
);

export function NewPassword(): VNode {
  const [token] = useState(fragment.value);
  const [isDone, setDone] = useState(false);
  const send = async ({ password }: Values): Promise<void> => {
    await post("new-password", { token, password });
    setDone(true);
  };
  const fields = [newPassword("New password")];
  return (
    <div class="gate stack wide">
      <PageHead
        title="Choose a new password"
        lead="The link works once. Every browser that is signed in to the account is signed out."
      />
      {isDone ? (
        <div class="sheet stack">
          <Mark mark="yes" words="Your password is changed." />
          <Go to="sign-in" act="Sign in" class="main" />
        </div>
      ) : (
        <Form class="sheet stack" fields={fields} act="Change the password" send={send} />
      )}
    </div>
  );
}

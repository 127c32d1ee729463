import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { post } from "../lib/client.ts";
import { fragment } from "../lib/router.ts";
import { Go, Mark, PageHead } from "../parts/basic.tsx";
import { Form, newPassword, type Values } from "../parts/form.tsx";

/** A new password by the one-time link that an operator made. */
export function Page(): VNode {
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

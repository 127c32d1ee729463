import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { useAction } from "../../app/load.ts";
import { leave, signInAgain } from "../../app/session.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Field, UserName } from "../../parts/field.tsx";
import { Fault } from "../../parts/states.tsx";
import { passwordInput } from "../../words/password.ts";

/** Stands before a page whose session has ended, so that nothing that was typed there is lost. */
export function SignInAgain({ email }: { email: string }): VNode {
  const [opened, setOpened] = useState(0);
  const [password, setPassword] = useState("");
  const { busy, fault, run } = useAction();
  const submit = (event: Event): void => {
    event.preventDefault();
    run(() => signInAgain(email, password));
  };
  // Only its buttons close it: Escape opens it again, because the page behind it may belong to another user.
  return (
    <Dialog
      key={opened}
      title="Your session has ended"
      onClose={() => setOpened(opened + 1)}
      hidesPage
    >
      <p>
        Sign in again as <b class="break">{email}</b>, and go on where you were: what you typed is
        still there.
      </p>
      <form class="stack" onSubmit={submit}>
        <UserName email={email} />
        <Field
          label="Password"
          value={password}
          onValue={setPassword}
          input={passwordInput("current-password")}
        />
        <Fault text={fault} />
        <div class="bar">
          <span class="push" />
          <button type="button" class="plain" onClick={leave}>
            Leave the page
          </button>
          <button type="submit" class="main" disabled={busy}>
            {busy ? "Signing in…" : "Sign in"}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { useAction } from "../../app/load.ts";
import { leave, signInAgain } from "../../app/session.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Field, UserName } from "../../parts/field.tsx";
import { Fault } from "../../parts/states.tsx";
import { t, tx } from "../../app/i18n.ts";
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
      title={t("Your session has ended")}
      onClose={() => setOpened(opened + 1)}
      hidesPage
    >
      <p>
        {tx("Sign in again as {name}, and go on where you were: what you typed is still there.", {
          name: <b class="break">{email}</b>,
        })}
      </p>
      <form class="stack" onSubmit={submit}>
        <UserName email={email} />
        <Field
          label={t("Password")}
          value={password}
          onValue={setPassword}
          input={passwordInput("current-password")}
        />
        <Fault text={fault} />
        <div class="bar">
          <span class="push" />
          <button type="button" class="plain" onClick={leave}>
            {t("Leave the page")}
          </button>
          <button type="submit" class="main" disabled={busy}>
            {busy ? t("Signing in…") : t("Sign in")}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

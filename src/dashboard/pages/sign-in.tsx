import type { VNode } from "preact";
import { doorTo, go, path, wantedPage } from "../lib/router.ts";
import { session, signIn, signInReason } from "../lib/session.ts";
import { PageHead } from "../parts/basic.tsx";
import { EMAIL, Form, PASSWORD, type Values } from "../parts/form.tsx";

async function enter({ email, password }: Values): Promise<void> {
  await signIn(email, password);
  if (path.value.startsWith("sign-")) go(wantedPage("./"));
}

/** Signs in and stays on the page that was asked for, or goes to the first one. */
export const Page = (): VNode => (
  <div class="gate stack wide">
    <PageHead title="Sign in" />
    {signInReason.value === "" ? null : <p class="notice">{signInReason.value}</p>}
    <Form class="sheet stack" fields={[EMAIL, PASSWORD]} act="Sign in" send={enter} />
    <p class="note">
      Forgot your password? Ask the operator of this service for a link, with which you choose a new
      one.
    </p>
    {session.value?.signup === "open" ? (
      <p>
        No account yet? <a href={doorTo("sign-up")}>Create one</a>
      </p>
    ) : (
      <p class="note">Accounts are made by the operator of this service.</p>
    )}
  </div>
);

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { Plan } from "../../http/account/shapes.ts";
import { ApiFault, post } from "../lib/client.ts";
import { count, limitText } from "../lib/format.ts";
import { doorTo, fragment, go, path, wantedPage } from "../lib/router.ts";
import { session, signIn, signInReason } from "../lib/session.ts";
import { CODE, EMAIL, Form, type FormValues, newPassword, PASSWORD } from "../parts/form.tsx";
import { Mark } from "../parts/marks.tsx";
import { Go, PageHead, Loaded } from "../parts/page.tsx";

async function enter(values: FormValues): Promise<void> {
  await signIn(values);
  if (path.value.startsWith("sign-")) go(wantedPage("./"));
}

export const Page = (): VNode => (
  <div class="gate stack wide">
    <PageHead title="Sign in" />
    {signInReason.value && <p class="notice">{signInReason.value}</p>}
    {session.value.proxy_email !== undefined && (
      <p class="notice break">
        You came as {session.value.proxy_email}, which no account here takes without a password. If
        you have one with this address, sign in; if not, ask the operator for it.
      </p>
    )}
    <Form class="sheet stack" fields={[EMAIL, PASSWORD, CODE]} act="Sign in" send={enter} />
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
  const send = async ({ password }: FormValues): Promise<void> => {
    await post("new-password", { token, password });
    setDone(true);
  };
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
        <Form
          {...{ class: "sheet stack", act: "Change the password", send }}
          fields={[newPassword("New password")]}
        />
      )}
    </div>
  );
}

/** The answer to signing up does not tell whether the address was known; a wrong password then does. */
async function signUp({ email = "", password = "" }: FormValues): Promise<void> {
  await post("sign-up", { email, password });
  await signIn({ email, password }).catch((error: unknown) => {
    if (!(error instanceof ApiFault && error.status === 401)) throw error;
    throw new ApiFault(401, "You may have an account already. Sign in with its password.");
  });
  go(wantedPage("keys"));
}

const NEW_ACCOUNT = [
  { ...EMAIL, hint: "You sign in with it. No mail is sent to it." },
  newPassword(),
] as const;

export function SignUp(): VNode {
  if (session.value.signup === "closed") {
    return (
      <div class="gate stack wide">
        <PageHead title="Accounts are made by the operator" />
        <p class="prose">
          Sign-up is closed here. Ask the operator of this service for an account, then{" "}
          <a href="sign-in">sign in</a>.
        </p>
      </div>
    );
  }
  return (
    <Loaded path="plans" stamp={0} lines={8} heading="Create an account">
      {({ plans }: { readonly plans: readonly Plan[] }) => (
        <div class="gate stack wide">
          <PageHead title="Create an account" lead={<Terms plans={plans} />} />
          <Form class="sheet stack" fields={NEW_ACCOUNT} act="Create the account" send={signUp} />
          <p>
            You have one? <a href={doorTo("sign-in")}>Sign in</a>
          </p>
        </div>
      )}
    </Loaded>
  );
}

function Terms({ plans }: { plans: readonly Plan[] }): VNode {
  const [free, first] = ["free", "new_free"].map((wanted) => {
    const plan = plans.find(({ name }) => name === wanted);
    if (plan === undefined) return "keys and lists";
    const { daily, bulk_limit: most } = plan;
    return `${limitText(daily)} checks a day${most === null ? "" : `, lists of up to ${count(most)} entries`}`;
  });
  return (
    <>
      You get the plan Free: {free}. <b>In its first 24 hours</b> an account has less: {first}.
    </>
  );
}

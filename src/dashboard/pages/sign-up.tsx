import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { ApiFault, post } from "../lib/client.ts";
import { count, limitText } from "../lib/format.ts";
import { useLoad } from "../lib/load.ts";
import { doorTo, fragment, go, wantedPage } from "../lib/router.ts";
import { loadSession, session } from "../lib/session.ts";
import type { Plan } from "../lib/shapes.ts";
import { Mark, PageHead, Shown } from "../parts/basic.tsx";
import { EMAIL, Form, NEW_PASSWORD, type Values } from "../parts/form.tsx";

/** The answer to signing up does not tell whether the address was known; a wrong password then does. */
async function signUp({ email, password }: Values): Promise<void> {
  await post("sign-up", { email, password });
  try {
    await post("sign-in", { email, password });
  } catch (error) {
    if (!(error instanceof ApiFault && error.status === 401)) throw error;
    throw new ApiFault(401, "You may have an account already. Sign in with its password.");
  }
  await loadSession();
  go(wantedPage("keys"));
}

/** Makes an account. What it may do, also on its first day, is said before. */
export function SignUpPage(): VNode {
  const loading = useLoad<{ readonly plans: readonly Plan[] }>("plans");
  if (session.value?.signup === "closed") {
    return (
      <div class="gate">
        <PageHead title="Accounts are made by the operator" />
        <p class="prose">
          Sign-up is closed here. Ask the operator of this service for an account, then{" "}
          <a href="sign-in">sign in</a>.
        </p>
      </div>
    );
  }
  const email = { ...EMAIL, hint: "You sign in with it. No mail is sent to it." };
  return (
    <Shown loading={loading} lines={8}>
      {({ plans }) => (
        <div class="gate">
          <PageHead title="Create an account" lead={<Terms plans={plans} />} />
          <Form
            class="sheet stack"
            fields={[email, NEW_PASSWORD]}
            act="Create the account"
            send={signUp}
          />
          <p>
            You have one? <a href={doorTo("sign-in")}>Sign in</a>
          </p>
        </div>
      )}
    </Shown>
  );
}

const termsOf = ({ daily, bulk_limit: most }: Plan): string =>
  `${limitText(daily)} checks a day${most === null ? "" : `, lists of up to ${count(most)} entries`}`;

function Terms({ plans }: { plans: readonly Plan[] }): VNode {
  const [free, first] = ["free", "new_free"].map((name) => plans.find((one) => one.name === name));
  return (
    <>
      You get the plan Free: {free === undefined ? "keys and lists" : termsOf(free)}.{" "}
      {first === undefined ? null : (
        <>
          <b>In its first 24 hours</b> an account has less: {termsOf(first)}.{" "}
        </>
      )}
      <a href="pricing">All plans</a>
    </>
  );
}

/** A new password by the one-time link that an operator made. */
export function NewPasswordPage(): VNode {
  const [token] = useState(fragment.value);
  const [isDone, setDone] = useState(false);
  const send = async ({ password }: Values): Promise<void> => {
    await post("new-password", { token, password });
    setDone(true);
  };
  return (
    <div class="gate">
      <PageHead
        title="Choose a new password"
        lead="The link works once. Every browser that is signed in to the account is signed out."
      />
      {isDone ? (
        <div class="sheet stack">
          <Mark mark="yes" words="Your password is changed." />
          <a class="button main" href="sign-in">
            Sign in
          </a>
        </div>
      ) : (
        <Form
          class="sheet stack"
          fields={[{ ...NEW_PASSWORD, label: "New password" }]}
          act="Change the password"
          send={send}
        />
      )}
    </div>
  );
}

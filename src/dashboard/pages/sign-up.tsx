import type { VNode } from "preact";
import type { Plan } from "../../http/account/shapes.ts";
import { ApiFault, post } from "../lib/client.ts";
import { count, limitText } from "../lib/format.ts";
import { useLoad } from "../lib/load.ts";
import { doorTo, go, wantedPage } from "../lib/router.ts";
import { session, signIn } from "../lib/session.ts";
import { PageHead, Shown } from "../parts/basic.tsx";
import { EMAIL, Form, newPassword, type Values } from "../parts/form.tsx";

/** The answer to signing up does not tell whether the address was known; a wrong password then does. */
async function signUp({ email, password }: Values): Promise<void> {
  await post("sign-up", { email, password });
  await signIn(email, password).catch((error: unknown) => {
    if (!(error instanceof ApiFault && error.status === 401)) throw error;
    throw new ApiFault(401, "You may have an account already. Sign in with its password.");
  });
  go(wantedPage("keys"));
}

const FIELDS = [
  { ...EMAIL, hint: "You sign in with it. No mail is sent to it." },
  newPassword(),
] as const;

/** Makes an account. What it may do, also on its first day, is said before. */
export function Page(): VNode {
  const loading = useLoad<{ readonly plans: readonly Plan[] }>("plans", 0);
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
    <Shown loading={loading} lines={8}>
      {({ plans }) => (
        <div class="gate stack wide">
          <PageHead title="Create an account" lead={<Terms plans={plans} />} />
          <Form class="sheet stack" fields={FIELDS} act="Create the account" send={signUp} />
          <p>
            You have one? <a href={doorTo("sign-in")}>Sign in</a>
          </p>
        </div>
      )}
    </Shown>
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
      You get the plan Free: {free}. <b>In its first 24 hours</b> an account has less: {first}.{" "}
      <a href="pricing">All plans</a>
    </>
  );
}

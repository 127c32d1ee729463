import type { ComponentChildren, VNode } from "preact";
import { useState } from "preact/hooks";
import { post } from "../lib/client.ts";
import { duration } from "../lib/format.ts";
import { useLoad } from "../lib/load.ts";
import { fragment } from "../lib/router.ts";
import { loadSession, session } from "../lib/session.ts";
import type { DnsTest as Tested } from "../lib/shapes.ts";
import { Mark, PageHead, Shown, Table } from "../parts/basic.tsx";
import { Code, EMAIL, Form, NEW_PASSWORD, type Values } from "../parts/form.tsx";

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

const Stale = (): VNode => (
  <>
    <PageHead
      title="This set-up link no longer works"
      lead="A link works once, for 30 minutes, while there is no account. Start the server again for a new one, or make the administrator there:"
    />
    <Code what="Command" text="gatepost account create ops@example.com --admin --tier pro" />
    <p>
      <a href="./">Go to Check</a>
    </p>
  </>
);

function Step(props: {
  number: number;
  state: "done" | "now" | "next";
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
  const after = isIn ? "now" : "next";
  const create = async ({ email, password }: Values): Promise<void> => {
    await post("setup", { token, email, password });
    await loadSession();
  };
  return (
    <>
      <PageHead
        title="Your server is running. Four steps to the first check."
        lead="About two minutes. You can change each answer later."
      />
      <ol class="steps">
        <Step number={1} state={isIn ? "done" : "now"} title="Create the administrator">
          {isIn ? (
            <Mark mark="yes" words="Account created. The link is used up." />
          ) : (
            <Form
              class="sheet stack"
              fields={[EMAIL, NEW_PASSWORD]}
              act="Create the administrator"
              send={create}
            />
          )}
        </Step>
        <Step number={2} state={after} title="Test DNS">
          <p class="prose">
            Every verdict rests on DNS, so Gatepost asks each of your resolvers: does it answer, how
            fast, over TCP too, and truthfully?
          </p>
          {isIn ? (
            <section class="sheet stack close">
              <DnsTest />
            </section>
          ) : null}
        </Step>
        <Step number={3} state={after} title="Who may create an account?">
          <SignUps />
        </Step>
        <Step number={4} state={after} title="Make the first check">
          <div class="bar">
            <a class={isIn ? "button main" : "button"} href="./#someone@mailinator.com">
              Check someone@mailinator.com
            </a>
          </div>
          <p class="note">
            Then: <a href="keys">create a key</a>, <a href="gate/hooks">guard a sign-up form</a>.
          </p>
        </Step>
      </ol>
    </>
  );
}

function SignUps(): VNode {
  const isOpen = session.value?.signup === "open";
  const words = isOpen
    ? "Anyone who reaches this server can sign up."
    : "You create every account.";
  return (
    <section class="sheet stack close">
      <Mark mark="quiet" words={words} />
      <p class="note">
        Set <code>GATEPOST_SIGNUP</code> to <code>{isOpen ? "closed" : "open"}</code> and start the
        server again to change it.
      </p>
    </section>
  );
}

const yesNo = (is: boolean | null): VNode =>
  is === null ? (
    <Mark mark="quiet" words="Not known" />
  ) : (
    <Mark mark={is ? "yes" : "no"} words={is ? "Yes" : "No"} />
  );

/** Asks every resolver now: whether it answers, how fast, over TCP too, and truthfully. */
export function DnsTest(): VNode {
  const loading = useLoad<Tested>("admin/dns-test");
  return (
    <>
      <Shown loading={loading}>
        {({ resolvers }) => (
          <Table
            label="DNS resolvers"
            head={["Resolver", "Median", "TCP", "Truthful"]}
            rows={resolvers.map(({ server, median_ms: ms, tcp, truthful, says }) => [
              <>
                <code>{server}</code>
                {says === "" ? null : <div class="note">{says}</div>}
              </>,
              <Mark
                mark={ms === null ? "no" : ms > 200 ? "unsure" : "yes"}
                words={ms === null ? "No answer" : duration(ms)}
              />,
              yesNo(tcp),
              yesNo(truthful),
            ])}
          />
        )}
      </Shown>
      <div>
        <button type="button" class="small" onClick={loading.reload}>
          Test again
        </button>
      </div>
    </>
  );
}

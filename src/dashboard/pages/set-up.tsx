import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { DnsTest as Tested } from "../../http/account/shapes.ts";
import { post } from "../lib/client.ts";
import { duration } from "../lib/format.ts";
import { useLoad } from "../lib/load.ts";
import { fragment } from "../lib/router.ts";
import { loadSession, ownEmail, session } from "../lib/session.ts";
import { Go, ink, Mark, noted, PageHead, Sheet, Shown, Table } from "../parts/basic.tsx";
import { Button, Code, EMAIL, Form, newPassword, type FormValues } from "../parts/form.tsx";

export function Page(): VNode {
  const [token] = useState(fragment.value);
  const loading = useLoad<{ readonly open: boolean }>("setup");
  const isIn = ownEmail() !== "";
  return (
    <div class="set-up stack wide">
      <Shown loading={loading} lines={6}>
        {({ open }) => ((open && token !== "") || isIn ? steps(token, isIn) : STALE)}
      </Shown>
    </div>
  );
}

const STALE = (
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

function steps(token: string, isIn: boolean): VNode {
  const create = async ({ email, password }: FormValues): Promise<void> => {
    await post("setup", { token, email, password });
    await loadSession();
  };
  const form = { fields: [EMAIL, newPassword()], act: "Create the administrator", send: create };
  const parts = [
    [
      "Create the administrator",
      isIn ? (
        <Mark mark="yes" words="Account created. The link is used up." />
      ) : (
        <Form class="sheet stack" {...form} />
      ),
    ],
    [
      "Test DNS",
      <>
        <p class="prose">
          Every verdict rests on DNS, so Gatepost asks each of your resolvers: does it answer, how
          fast, over TCP too, and truthfully?
        </p>
        {isIn ? (
          <Sheet>
            <DnsTest />
          </Sheet>
        ) : null}
      </>,
    ],
    ["Who may create an account?", <SignUps />],
    ["Make the first check", firstCheck(isIn)],
  ] as const;
  const [first, others] = isIn ? (["yes", "accent"] as const) : (["accent", "quiet"] as const);
  return (
    <>
      <PageHead
        title="Your server is running. Four steps to the first check."
        lead="About two minutes. You can change each answer later."
      />
      <ol class="stack wide">
        {parts.map(([title, content], at) => (
          <li key={title} class="step" style={ink(at === 0 ? first : others)}>
            <b>{at + 1}</b>
            <div class="stack close">
              <h2>{title}</h2>
              {content}
            </div>
          </li>
        ))}
      </ol>
    </>
  );
}

const firstCheck = (isIn: boolean): VNode => (
  <>
    <Go
      to="./#someone@mailinator.com"
      act="Check someone@mailinator.com"
      class={isIn ? "main" : ""}
    />
    <p class="note">
      Then: <a href="keys">create a key</a>, <a href="gate/hooks">guard a sign-up form</a>.
    </p>
  </>
);

function SignUps(): VNode {
  const isOpen = session.value.signup === "open";
  const words = isOpen
    ? "Anyone who reaches this server can sign up."
    : "You create every account.";
  return (
    <Sheet>
      <Mark mark="quiet" words={words} />
      <p class="note">
        Set <code>GATEPOST_SIGNUP</code> to <code>{isOpen ? "closed" : "open"}</code> and start the
        server again to change it.
      </p>
    </Sheet>
  );
}

const yesNo = (is: boolean | null): VNode =>
  is === null ? (
    <Mark mark="quiet" words="Not known" />
  ) : (
    <Mark mark={is ? "yes" : "no"} words={is ? "Yes" : "No"} />
  );

/** Asks every resolver: whether it answers, how fast, over TCP too, and truthfully; again only when that is pressed. */
export function DnsTest(): VNode {
  const loading = useLoad<Tested>("admin/dns-test", 0);
  return (
    <>
      <Shown loading={loading}>
        {({ resolvers }) => (
          <Table
            label="DNS resolvers"
            head={["Resolver", "Median", "TCP", "Truthful"]}
            rows={resolvers.map(({ server, median_ms: ms, tcp, truthful, says }) => [
              noted(<code>{server}</code>, says),
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
      <Button act="Test again" onClick={loading.reload} />
    </>
  );
}

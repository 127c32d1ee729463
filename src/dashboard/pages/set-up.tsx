import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { DnsTest as Tested, SignUpState } from "../../http/account/shapes.ts";
import { post } from "../lib/client.ts";
import { duration } from "../lib/format.ts";
import { stateOf } from "../lib/health.ts";
import { useLoad } from "../lib/load.ts";
import { fragment } from "../lib/router.ts";
import { loadSession, ownEmail } from "../lib/session.ts";
import { TRIED } from "./check.tsx";
import { Act } from "../parts/act.tsx";
import { Button, Code } from "../parts/button.tsx";
import { EMAIL, Form, type FormValues, newPassword } from "../parts/form.tsx";
import { ink, Mark, noted } from "../parts/marks.tsx";
import { Go, Loaded, LoadedSheet, PageHead, Sheet, Shown } from "../parts/page.tsx";
import { Table } from "../parts/rows.tsx";

export function Page(): VNode {
  const [token] = useState(fragment.value);
  const isIn = ownEmail() !== "";
  return (
    <div class="set-up stack wide">
      <Loaded path="setup" lines={6} heading="Set-up">
        {({ open }: { readonly open: boolean }) =>
          (open && token !== "") || isIn ? steps(token, isIn) : STALE
        }
      </Loaded>
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

async function createAdmin(token: string, { email, password }: FormValues): Promise<void> {
  await post("setup", { token, email, password });
  await loadSession();
}

function steps(token: string, isIn: boolean): VNode {
  const parts = [
    [
      "Create the administrator",
      isIn ? (
        <Mark mark="yes" words="Account created. The link is used up." />
      ) : (
        <Form
          {...{ class: "sheet stack", act: "Create the administrator" }}
          fields={[EMAIL, newPassword()]}
          send={(values) => createAdmin(token, values)}
        />
      ),
    ],
    [
      "Test DNS",
      <>
        <p class="prose">
          Every verdict rests on DNS, so Gatepost asks each of your resolvers: does it answer, how
          fast, over TCP too, and truthfully?
        </p>
        {isIn && (
          <Sheet>
            <DnsTest />
          </Sheet>
        )}
      </>,
    ],
    ["Who may create an account?", isIn && <SignUps />],
    [
      "Make the first check",
      <>
        <Go to={`./#${TRIED}`} act={`Check ${TRIED}`} class={isIn ? "main" : ""} />
        <p class="note">
          Then: <a href="keys">create a key</a>, <a href="gate/hooks">guard a sign-up form</a>.
        </p>
      </>,
    ],
  ] as const;
  const [first, others] = isIn ? ["yes", "accent"] : ["accent", "quiet"];
  return (
    <>
      <PageHead
        title="Your server is running. Four steps to the first check."
        lead="About two minutes. You can change each answer later."
      />
      <ol class="stack wide">
        {parts.map(([title, content], at) => (
          <li key={title} class="step" style={ink((at === 0 ? first : others) ?? "")}>
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

export function SignUps({ title }: { title?: string }): VNode {
  const turn = (signup: string) => () => post("admin/signup", { signup }).then(loadSession);
  return (
    <LoadedSheet {...{ title, path: "admin/signup", lines: 2 }}>
      {({ signup, fixed }: SignUpState) => (
        <>
          <Mark mark="quiet" words={SIGN_UPS[signup].words} />
          {fixed ? (
            <p class="note">
              The setting <code>GATEPOST_SIGNUP</code> decides. Unset it to switch sign-up here.
            </p>
          ) : (
            <Act
              {...SIGN_UPS[signup].other}
              send={turn(signup === "open" ? "closed" : "open")}
              undo={turn(signup)}
            />
          )}
        </>
      )}
    </LoadedSheet>
  );
}

const SIGN_UPS = {
  open: {
    words: "Anyone who reaches this server can sign up.",
    other: {
      act: "Close sign-up",
      said: "Sign-up is closed.",
      children: "Accounts that exist stay, and administrators create new ones.",
    },
  },
  closed: {
    words: "Administrators create every account.",
    other: {
      act: "Open sign-up",
      said: "Sign-up is open.",
      children: "Anyone who reaches this server can then have an account on the plan Free.",
    },
  },
} as const;

const yesNo = (is: boolean | null): VNode =>
  is === null ? (
    <Mark mark="quiet" words="Not known" />
  ) : (
    <Mark mark={is ? "yes" : "no"} words={is ? "Yes" : "No"} />
  );

/** Asks every resolver: whether it answers, how fast, over TCP too, and truthfully; again only when that is pressed. */
export function DnsTest(): VNode {
  const loading = useLoad<Tested>("admin/dns-test", typeof stateOf("dns"));
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

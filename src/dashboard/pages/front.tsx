import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import { checkRun } from "../lib/check-run.ts";
import { count, duration } from "../lib/format.ts";
import { loadPart, useLoad } from "../lib/load.ts";
import { brought, useDroppedFile } from "../lib/page.ts";
import { doorTo, go } from "../lib/router.ts";
import { publicUrl, session } from "../lib/session.ts";
import type { FrontPage as Front, Plan } from "../lib/shapes.ts";
import { Lines, Mark, Pairs, Time } from "../parts/basic.tsx";
import { Code } from "../parts/form.tsx";
import { curlOf } from "../words/samples.ts";
import { Answer, Ask, DETAILS, Examples, hasExamples, useDeepLink } from "./ask.tsx";

/** The front door: what Gatepost is, a field that works, and what this server knows. */
export function FrontPage(): VNode {
  useDeepLink();
  const isAnswer = checkRun.value.shown.state !== "nothing";
  useEffect(() => {
    document.title = "Gatepost";
  }, []);
  return (
    <>
      <section class={isAnswer ? "hero small" : "hero"}>
        <h1>
          Real addresses in.
          <br />
          Disposable ones out.
        </h1>
        {isAnswer ? null : (
          <p class="lead">
            Gatepost checks an email address or a domain in milliseconds: can it receive mail, is it
            disposable or misspelt, and why. It runs on your own server.
          </p>
        )}
        <Ask onFocus={() => void loadPart(DETAILS)} />
        {isAnswer ? null : <Under />}
      </section>
      {isAnswer ? (
        <>
          <Answer />
          <p>
            <a href="./">Back to the start</a>
          </p>
        </>
      ) : (
        <Below />
      )}
    </>
  );
}

function Under(): VNode {
  const plans = useLoad<{ readonly plans: readonly Plan[] }>("plans").value?.plans ?? [];
  const daily = plans.find(({ name }) => name === "anonymous")?.daily;
  return (
    <p class="under">
      {typeof daily === "number" ? `${count(daily)} checks a day without an account. ` : ""}
      No mail is sent.
    </p>
  );
}

function Below(): VNode {
  const loading = useLoad<Front>("front");
  const front = loading.value;
  const isOpen = session.value?.signup === "open";
  return (
    <>
      {isOpen && hasExamples(loading) ? <Examples front={front} /> : null}
      <Pairs cells label="This server today" rows={figuresOf(front)} />
      <div class="two far">
        <WholeList isOpen={isOpen} />
        <section class="sheet stack">
          <h2>Or ask from your code</h2>
          <Code what="curl" text={curlOf(publicUrl(), ASKED)} />
          <pre class="answer">{answerOf(front)}</pre>
          <p class="note">
            It works as it stands, without a key. <a href="docs">API reference</a>
          </p>
        </section>
      </div>
      <Privacy />
    </>
  );
}

/** Without their values until those are known. */
const figuresOf = (front: Front | undefined) => [
  ["names on public lists", front ? count(front.list_entries) : ""] as const,
  ["public lists in use", front ? count(front.lists) : ""] as const,
  [
    "lists last updated",
    front ? <Time at={front.lists_updated_at} never="with this version" /> : "",
  ] as const,
  front?.median_ms === null
    ? (["addresses sent to other services", "0"] as const)
    : (["half of all answers, today", front ? `≤ ${duration(front.median_ms)}` : ""] as const),
];

const PEEK = [
  ["k.larsen@posteo.de", "yes", "Good"],
  ["maria@gmail.con", "unsure", "Misspelt"],
  ["o.brien@sharklasers.com", "no", "Disposable"],
] as const;

/** A file that is dropped waits for the account. */
function WholeList({ isOpen }: { isOpen: boolean }): VNode {
  const toLists = isOpen ? "sign-up?next=lists" : "sign-in?next=lists";
  const isOver = useDroppedFile((file) => {
    if (file === undefined) return;
    brought.file = file;
    go(toLists);
  });
  return (
    <section class={isOver ? "sheet stack drop over" : "sheet stack drop"}>
      <h2 class="say">Clean a whole list</h2>
      <p class="prose">
        Drop a CSV, Excel or text file here. It is kept in this browser; sign {isOpen ? "up" : "in"}{" "}
        to check it. You get it back with a verdict, a reason and a suggested fix in each row.
      </p>
      <Lines
        rows={PEEK.map(([entry, mark, words]) => [
          <span class="mono">{entry}</span>,
          <Mark mark={mark} words={words} />,
        ])}
      />
      <div class="bar">
        <a class="button main" href={toLists}>
          Choose a file
        </a>
        <a class="button plain" href={doorTo(isOpen ? "sign-up" : "sign-in")}>
          {isOpen ? "Sign up" : "Sign in"}
        </a>
      </div>
    </section>
  );
}

const ASKED = "someone@mailinator.com";

/** The beginning of the answer that this server gave to the same question; "" until it is known. */
function answerOf(front: Front | undefined): string {
  const result = front?.examples.find(({ entry }) => entry === ASKED)?.step.result;
  if (result === undefined) return "";
  const told = JSON.stringify(result, ["format", "disposable", "dns", "confidence"]);
  return told.replace(/[:,]/g, "$& ").replace("}", ", … }");
}

const PRIVACY = [
  [
    "Goes out",
    "DNS questions about the domain to the server's resolver, a daily download of public lists, and a registry lookup when you ask for the domain's age. Never the part before the @.",
  ],
  ["Stays", "Addresses, results, keys and counts."],
  ["Is deleted", "Every list and its results, 15 minutes after it finishes."],
] as const;

/** What leaves the server, what stays, and for how long. */
const Privacy = (): VNode => (
  <div class="two start privacy far">
    <div class="stack">
      <h2 class="say">Self-hosted. What you check stays on this server.</h2>
      <p class="prose">No tracking, no third-party scripts, no copy of your lists.</p>
    </div>
    <ul class="lines">
      {PRIVACY.map(([what, words]) => (
        <li key={what}>
          <b>{what}</b>
          <span class="grow prose">{words}</span>
        </li>
      ))}
    </ul>
  </div>
);

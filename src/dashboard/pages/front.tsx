import type { ComponentChildren, VNode } from "preact";
import { useEffect } from "preact/hooks";
import type { FrontPage, Plan } from "../../http/account/shapes.ts";
import { shownCheck } from "../lib/check-run.ts";
import { count } from "../lib/format.ts";
import { useLoad } from "../lib/load.ts";
import { brought, useDroppedFile } from "../lib/page.ts";
import { doorTo, go } from "../lib/router.ts";
import { listLife, session } from "../lib/session.ts";
import { Code } from "../parts/button.tsx";
import { Time } from "../parts/marks.tsx";
import { Go, Sheet } from "../parts/page.tsx";
import { Pairs } from "../parts/rows.tsx";
import { curlOf } from "../words/samples.ts";
import { Answer, Ask, Examples, hasExamples, TRIED, useDeepLink } from "./check.tsx";

export function Page(): VNode {
  useDeepLink();
  const isAnswer = shownCheck.value.state !== "nothing";
  useEffect(() => void (document.title = "Gatepost"), []);
  const plans = useLoad<{ readonly plans: readonly Plan[] }>("plans", 0).value?.plans ?? [];
  const daily = plans.find(({ name }) => name === "anonymous")?.daily;
  return (
    <>
      <section class={isAnswer ? "" : "hero"}>
        <h1 class={isAnswer ? "unseen" : ""}>
          Real addresses in.
          <br />
          Disposable ones out.
        </h1>
        {!isAnswer && (
          <p class="lead prose">
            Gatepost checks an email address or a domain in milliseconds: can it receive mail, is it
            disposable or misspelt, and why. It runs on your own server.
          </p>
        )}
        <Ask />
        {!isAnswer && (
          <p class="under note">
            {typeof daily === "number" && `${count(daily)} checks a day without an account. `}
            No mail is sent.
          </p>
        )}
      </section>
      <Answer />
      {isAnswer ? (
        <p>
          <a href="./">Back to the start</a>
        </p>
      ) : (
        <Below />
      )}
    </>
  );
}

function Below(): VNode {
  const loading = useLoad<FrontPage>("front");
  const front = loading.value;
  const isOpen = session.value.signup === "open";
  // Until it is known, a value is empty.
  const known = (value: (front: FrontPage) => ComponentChildren) => (front ? value(front) : "");
  return (
    <>
      {isOpen && hasExamples(loading) && <Examples front={front} />}
      <Pairs
        cells
        label="This server today"
        rows={[
          ["names on public lists", known(({ list_entries: names }) => count(names))],
          ["public lists in use", known(({ lists }) => count(lists))],
          [
            "lists last updated",
            known(({ lists_updated_at: at }) => <Time at={at} never="with this version" />),
          ],
        ]}
      />
      <div class="two far">
        <WholeList isOpen={isOpen} />
        <Sheet title="Or ask from your code">
          <Code what="curl" text={curlOf(session.value.public_url, TRIED)} />
          <pre class="answer prose">{answerOf(front)}</pre>
          <p class="note">
            It works as it stands, without a key. <a href="docs">API reference</a>
          </p>
        </Sheet>
      </div>
      <div class="two start privacy far">
        <div class="stack">
          <h2 class="say">Self-hosted. What you check stays on this server.</h2>
          <p class="prose">No tracking, no third-party scripts, no copy of your lists.</p>
        </div>
        <Pairs
          rows={[
            [
              "Goes out",
              "DNS questions about the domain to the server's resolver, a daily download of public lists, and a registry lookup when you ask for the domain's age. Never the part before the @.",
            ],
            ["Stays", "Addresses, results, keys and counts."],
            [
              "Is deleted",
              `Every list and its results, ${listLife()} after its last check, or at once.`,
            ],
          ]}
        />
      </div>
    </>
  );
}

function WholeList({ isOpen }: { isOpen: boolean }): VNode {
  const door = isOpen ? "sign-up" : "sign-in";
  const toLists = `${door}?next=lists`;
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
      <div class="bar">
        <Go to={toLists} act="Choose a file" class="main" />
        <Go to={doorTo(door)} act={isOpen ? "Sign up" : "Sign in"} class="plain" />
      </div>
    </section>
  );
}

function answerOf(front: FrontPage | undefined): string {
  const result = front?.examples.find(({ entry }) => entry === TRIED)?.step.result;
  if (result === undefined) return "";
  const told = JSON.stringify(result, ["format", "disposable", "dns", "confidence"]);
  return told.replace(/[:,]/g, "$& ").replace("}", ", … }");
}

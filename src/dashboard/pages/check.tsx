import type { VNode } from "preact";
import { check, checkRun } from "../lib/check-run.ts";
import { useLoad } from "../lib/load.ts";
import { has } from "../lib/session.ts";
import type { FrontPage } from "../lib/shapes.ts";
import { Lines, PageHead, Sheet } from "../parts/basic.tsx";
import { Answer, Ask, Examples, hasExamples, useDeepLink } from "./ask.tsx";

export function CheckPage(): VNode {
  useDeepLink();
  return (
    <>
      <PageHead title="Check" lead="One address or domain. No mail is sent to it.">
        {has("lists") ? <a href="lists">Check a whole list instead</a> : null}
      </PageHead>
      <Ask />
      {checkRun.value.shown.state === "nothing" ? <Teach /> : <Answer />}
    </>
  );
}

const EXAMPLES = [
  ["someone@mailinator.com", "an inbox that anyone can read"],
  ["maria@gmail.con", "a typing error"],
  ["info@iana.org", "an organisation's role address"],
] as const;

/** The page before the first check: three results of this server, or entries to try where it has none. */
function Teach(): VNode {
  const front = useLoad<FrontPage>("front");
  if (hasExamples(front)) return <Examples front={front.value} />;
  return (
    <Sheet title="What you will see">
      <p class="prose">
        Whether it can receive mail, whether it is disposable or misspelt, and the reason: which
        list, since when, which word. Try one:
      </p>
      <Lines
        rows={EXAMPLES.map(([entry, words]) => [
          <button type="button" class="link mono" onClick={() => check(entry)}>
            {entry}
          </button>,
          <span class="note">{words}</span>,
        ])}
      />
    </Sheet>
  );
}

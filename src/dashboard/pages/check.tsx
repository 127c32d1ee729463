import type { VNode } from "preact";
import type { FrontPage } from "../../http/account/shapes.ts";
import { check, shownCheck } from "../lib/check-run.ts";
import { useLoad } from "../lib/load.ts";
import { has } from "../lib/session.ts";
import { Lines, PageHead, Sheet } from "../parts/basic.tsx";
import { Button } from "../parts/form.tsx";
import { Answer, Ask, Examples, hasExamples, useDeepLink } from "./ask.tsx";

export function Page(): VNode {
  useDeepLink();
  return (
    <>
      <PageHead title="Check" lead="One address or domain. No mail is sent to it.">
        {has("lists") ? <a href="lists">Check a whole list instead</a> : null}
      </PageHead>
      <Ask />
      {shownCheck.value.state === "nothing" ? <Teach /> : <Answer />}
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
          <Button act={entry} class="link mono" onClick={() => check(entry)} />,
          <span class="note">{words}</span>,
        ])}
      />
    </Sheet>
  );
}

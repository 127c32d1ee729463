import type { VNode } from "preact";
import type { FrontPage as Front } from "../../api/shapes.ts";
import { t, tx } from "../../app/i18n.ts";
import { doorTo, go } from "../../app/router.ts";
import { session } from "../../app/session.ts";
import { Code } from "../../parts/copy.tsx";
import { bringFile, useDroppedFile } from "../../parts/dropped-file.ts";
import { Mark } from "../../parts/mark.tsx";
import { curlOf } from "../../words/curl-samples.ts";

const PEEK = [
  ["k.larsen@posteo.de", "yes", "Good"],
  ["maria@gmail.con", "unsure", "Misspelt"],
  ["o.brien@sharklasers.com", "no", "Disposable"],
] as const;

/** A whole list, or a program: the two ways beyond one check. */
export function Ways({ front }: { front: Front | undefined }): VNode {
  const isOpen = session.value?.signup === "open";
  const base = session.value?.public_url ?? location.origin;
  return (
    <div class="two far">
      <WholeList isOpen={isOpen} />
      <section class="sheet stack headed">
        <h2>{t("Or ask from your code")}</h2>
        <Code wrap what="curl" text={curlOf(base, ASKED)} />
        <pre class="answer">{answerOf(front)}</pre>
        <p class="note">
          {tx("It works as it stands, without a key. {guide}, {docs}", {
            guide: <a href="/guide">{t("Samples in other languages")}</a>,
            docs: <a href="/docs">{t("API reference")}</a>,
          })}
        </p>
        {isOpen ? (
          <p class="note">
            {tx("{link} for higher limits.", {
              link: <a href={doorTo("/sign-up")}>{t("Create a key")}</a>,
            })}
          </p>
        ) : null}
      </section>
    </div>
  );
}

/** A file that is dropped waits for the account. */
function WholeList({ isOpen }: { isOpen: boolean }): VNode {
  const toLists = isOpen ? "/sign-up?next=/lists" : "/sign-in?next=/lists";
  const isOver = useDroppedFile((file) => {
    if (file === undefined) return;
    bringFile(file);
    go(toLists);
  });
  return (
    <section class={isOver ? "sheet stack drop-teaser over" : "sheet stack drop-teaser"}>
      <h2 class="say">{t("Clean a whole list")}</h2>
      <p class="prose">
        {t(
          "Drop a CSV, Excel or text file. Get it back with a verdict, a reason and a suggested fix in each row.",
        )}
      </p>
      <ul class="lines">
        {PEEK.map(([entry, mark, words]) => (
          <li key={entry}>
            <span class="mono grow">{entry}</span>
            <Mark mark={mark} words={t(words)} />
          </li>
        ))}
      </ul>
      <div class="bar">
        <a class="button main" href={toLists}>
          {t("Choose a file")}
        </a>
        <span class="note">
          {isOpen ? t("A free account, then your file.") : t("For accounts of this server.")}
        </span>
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

/** What leaves the server, what stays, and for how long. */
export function Privacy(): VNode {
  const rows = [
    [
      t("Goes out"),
      t(
        "DNS questions about the domain to the server's resolver, a daily download of public lists, and a registry lookup when you ask for the domain's age. Never the part before the @.",
      ),
    ],
    [t("Stays"), t("Addresses, results, keys and counts.")],
    [t("Is deleted"), t("Every list and its results, 15 minutes after it finishes.")],
  ] as const;
  return (
    <div class="two start privacy far">
      <div class="stack">
        <h2 class="say">{t("Self-hosted. What you check stays on this server.")}</h2>
        <p class="prose">{t("No tracking, no third-party scripts, no copy of your lists.")}</p>
      </div>
      <ul class="lines">
        {rows.map(([name, words]) => (
          <li key={name}>
            <b>{name}</b>
            <span class="grow prose">{words}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

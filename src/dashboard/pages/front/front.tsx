import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import type { FrontPage as Front, Plan } from "../../api/shapes.ts";
import { checkRun, clearCheck } from "../../app/check-run.ts";
import { t, tx } from "../../app/i18n.ts";
import { useLoad } from "../../app/load.ts";
import { count, duration } from "../../app/numbers.ts";
import { doorTo, setFragment } from "../../app/router.ts";
import { session } from "../../app/session.ts";
import { Code } from "../../parts/copy.tsx";
import { Mark } from "../../parts/mark.tsx";
import { Time } from "../../parts/time.tsx";
import { curlOf } from "../../words/samples.ts";
import { Ask } from "../check/ask.tsx";
import { Answer, useDeepLink } from "../check/check.tsx";
import { FrontExamples } from "./front-examples.tsx";

/** The front door: what Gatepost is, a field that works, and what this server knows. */
export function FrontPage(): VNode {
  useDeepLink();
  const { shown } = checkRun.value;
  const isOpen = session.value?.signup === "open";
  const front = useLoad<Front>("front");
  const known = front.loaded.state === "ready" ? front.loaded.value : undefined;
  useEffect(() => {
    document.title = "Gatepost";
  }, []);
  return (
    <>
      <Hero isSmall={shown.state !== "nothing"} />
      {shown.state === "nothing" ? (
        <>
          {isOpen ? (
            <FrontExamples front={known} isLoading={front.loaded.state === "loading"} />
          ) : null}
          <Facts front={known} />
          <Ways />
          <Privacy />
        </>
      ) : (
        <>
          <Answer shown={shown} />
          <p>
            <button
              type="button"
              class="link"
              onClick={() => {
                clearCheck();
                setFragment("");
              }}
            >
              {t("Back to the start")}
            </button>
          </p>
        </>
      )}
    </>
  );
}

function Hero({ isSmall }: { isSmall: boolean }): VNode {
  const { title = "", text = "" } = session.value?.site ?? {};
  return (
    <section class={isSmall ? "hero small" : "hero"}>
      <h1>
        {title === "" ? (
          <>
            {t("Real addresses in.")}
            <br />
            {t("Disposable ones out.")}
          </>
        ) : (
          title
        )}
      </h1>
      <p class="lead">
        {text === ""
          ? t(
              "Gatepost checks an email address or a domain in milliseconds: can it receive mail, is it disposable or misspelt, and why. It runs on your own server.",
            )
          : text}
      </p>
      <Ask />
      <Under />
    </section>
  );
}

function Under(): VNode {
  const { loaded } = useLoad<{ readonly plans: readonly Plan[] }>("plans");
  const plans = loaded.state === "ready" ? loaded.value.plans : [];
  const daily = plans.find(({ name }) => name === "anonymous")?.daily;
  return (
    <p class="under">
      {typeof daily === "number"
        ? t("{n} checks a day without an account. No mail is sent.", { n: count(daily) })
        : t("No mail is sent.")}
    </p>
  );
}

function Facts({ front }: { front: Front | undefined }): VNode {
  const median = front?.median_ms ?? null;
  return (
    <dl class="cells" aria-label={t("This server today")}>
      <Cell
        name={t("names on public lists")}
        value={front === undefined ? "" : count(front.list_entries)}
      />
      <Cell name={t("public lists in use")} value={front === undefined ? "" : count(front.lists)} />
      <Cell
        name={t("lists last updated")}
        value={
          front === undefined ? (
            ""
          ) : front.lists_updated_at === null ? (
            t("with this version")
          ) : (
            <Time at={front.lists_updated_at} />
          )
        }
      />
      {median === null ? (
        <Cell name={t("addresses sent to other services")} value="0" />
      ) : (
        <Cell name={t("half of all answers, today")} value={`≤ ${duration(median)}`} />
      )}
    </dl>
  );
}

function Cell({ name, value }: { name: string; value: string | VNode }): VNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value === "" ? "\u00a0" : value}</dd>
    </div>
  );
}

const PEEK = [
  ["k.larsen@posteo.de", "yes", "Good"],
  ["maria@gmail.con", "unsure", "Misspelt"],
  ["o.brien@sharklasers.com", "no", "Disposable"],
] as const;

function Ways(): VNode {
  const isOpen = session.value?.signup === "open";
  const base = session.value?.public_url ?? location.origin;
  return (
    <div class="two">
      <section class="sheet stack drop-teaser">
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
          <a class="button main" href={isOpen ? "/sign-up?next=/lists" : "/sign-in?next=/lists"}>
            {t("Choose a file")}
          </a>
          <span class="note">
            {isOpen ? t("A free account, then your file.") : t("For accounts of this server.")}
          </span>
        </div>
      </section>
      <section class="sheet stack">
        <h2>{t("Or ask from your code")}</h2>
        <Code wrap what="curl" text={curlOf(base, "someone@mailinator.com")} />
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

function Privacy(): VNode {
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
    <div class="two start privacy">
      <div>
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

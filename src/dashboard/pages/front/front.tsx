import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import type { FrontPage as Front, Plan } from "../../api/shapes.ts";
import { checkRun, clearCheck } from "../../app/check-run.ts";
import { t } from "../../app/i18n.ts";
import { loadPart } from "../../app/loaded-parts.ts";
import { useLoad } from "../../app/load.ts";
import { count, duration } from "../../app/numbers.ts";
import { setFragment } from "../../app/router.ts";
import { session } from "../../app/session.ts";
import { Time } from "../../parts/time.tsx";
import { Answer } from "../check/answer.tsx";
import { Ask, useDeepLink } from "../check/ask.tsx";
import { DETAILS } from "../check/verdict-sheet.tsx";
import { FrontExamples } from "./front-examples.tsx";
import { Privacy, Ways } from "./front-ways.tsx";

/** The front door: what Gatepost is, a field that works, and what this server knows. */
export function FrontPage(): VNode {
  useDeepLink();
  const { shown } = checkRun.value;
  useEffect(() => {
    document.title = "Gatepost";
  }, []);
  return (
    <>
      <Hero isSmall={shown.state !== "nothing"} />
      {shown.state === "nothing" ? (
        <Below />
      ) : (
        <>
          <Answer />
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

/** What stands below the field until there is something to answer. */
function Below(): VNode {
  const { loaded } = useLoad<Front>("front");
  const front = loaded.state === "ready" ? loaded.value : undefined;
  return (
    <>
      {session.value?.signup === "open" ? (
        <FrontExamples front={front} isLoading={loaded.state === "loading"} />
      ) : null}
      <Facts front={front} />
      <Ways front={front} />
      <Privacy />
    </>
  );
}

function Hero({ isSmall }: { isSmall: boolean }): VNode {
  return (
    <section class={isSmall ? "hero small" : "hero"}>
      <h1>
        {t("Real addresses in.")}
        <br />
        {t("Disposable ones out.")}
      </h1>
      {isSmall ? null : (
        <p class="lead">
          {t(
            "Gatepost checks an email address or a domain in milliseconds: can it receive mail, is it disposable or misspelt, and why. It runs on your own server.",
          )}
        </p>
      )}
      <Ask onFocus={() => void loadPart(DETAILS)} />
      {isSmall ? null : <Under />}
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

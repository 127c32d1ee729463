import type { VNode } from "preact";
import type { Decision, Outcomes } from "../../api/gate.ts";
import { shortDay } from "../../app/clock.ts";
import { t } from "../../app/i18n.ts";
import { useLoad } from "../../app/load.ts";
import { count, percent } from "../../app/numbers.ts";
import { Chart } from "../../parts/chart.tsx";
import { Shown } from "../../parts/states.tsx";
import { decisionWords } from "../../words/policy.ts";

/** What the sign-up gate decided, by day, reason and key. */
export function KeptOut({ days }: { days: number }): VNode {
  const loading = useLoad<Outcomes>(`outcomes?days=${String(days)}`);
  return (
    <Shown loading={loading} lines={6}>
      {(outcomes) => (outcomes.total === 0 ? <NoDecisions /> : <Decisions outcomes={outcomes} />)}
    </Shown>
  );
}

function NoDecisions(): VNode {
  return (
    <section class="sheet stack close">
      <h2>{t("What we kept out")}</h2>
      <p class="prose">
        {t("No sign-up was decided in these days. Your form asks with POST /api/decide.")}{" "}
        <a href="/policy">{t("See the policy")}</a>
      </p>
    </section>
  );
}

const SERIES: readonly (readonly [Exclude<Decision, "accept">, string])[] = [
  ["reject", "k-no"],
  ["challenge", "k-accent-2"],
  ["review", "k-unsure"],
];

function Decisions({ outcomes }: { outcomes: Outcomes }): VNode {
  const { days, total } = outcomes;
  const sum = (decision: Decision): number => days.reduce((all, day) => all + day[decision], 0);
  return (
    <section class="sheet stack">
      <h2 class="say">{t("We kept out {n} bad sign-ups.", { n: count(sum("reject")) })}</h2>
      <p class="prose">
        {t("{share} of {all} sign-ups.", {
          share: percent(sum("reject") / total),
          all: count(total),
        })}
      </p>
      <div class="keys">
        {SERIES.map(([decision, colour]) => (
          <span key={decision} class={`key ${colour}`}>
            {decisionWords(decision)} {count(sum(decision))}
          </span>
        ))}
      </div>
      <Chart
        kind="bars"
        label={t("Sign-ups by day that were not accepted at once")}
        steps={days.map(({ day }) => shortDay(day))}
        series={SERIES.map(([decision, colour]) => ({
          name: decisionWords(decision),
          colour,
          values: days.map((day) => day[decision]),
        }))}
      />
      <Lists outcomes={outcomes} />
    </section>
  );
}

function Lists({ outcomes: { reasons, keys } }: { outcomes: Outcomes }): VNode {
  const bad = reasons.filter(({ decision }) => decision !== "accept").slice(0, 6);
  return (
    <div class="two even">
      <div>
        <h3>{t("By reason")}</h3>
        <ul class="lines">
          {bad.map(({ decision, reason, count: times }) => (
            <li key={`${decision} ${reason}`}>
              <span class="grow">
                {decisionWords(decision)} <code>{reason}</code>
              </span>
              <span>{count(times)}</span>
            </li>
          ))}
        </ul>
      </div>
      <div>
        <h3>{t("By key")}</h3>
        <ul class="lines">
          {keys.map(({ key_id: id, name, ...counts }) => (
            <li key={id ?? ""}>
              <span class="grow">{name ?? t("without a key")}</span>
              <span class="note">
                {t("{n} of {all} rejected", {
                  n: count(counts.reject),
                  all: count(counts.accept + counts.challenge + counts.review + counts.reject),
                })}
              </span>
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

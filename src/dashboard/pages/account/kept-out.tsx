import type { VNode } from "preact";
import type { Decision, Outcomes } from "../../api/gate.ts";
import { t } from "../../app/i18n.ts";
import { useLoad } from "../../app/load.ts";
import { count, counted, percent } from "../../app/numbers.ts";
import { createdDay } from "../../app/session.ts";
import { Chart } from "../../parts/chart.tsx";
import { Shown } from "../../parts/states.tsx";
import { daysBefore, stepsOf } from "../../words/steps.ts";
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
  const ghost = ghostOf(outcomes);
  return (
    <section class="sheet stack">
      <h2 class="say">
        {counted(sum("reject"), "We kept out {n} bad sign-up.", "We kept out {n} bad sign-ups.")}
      </h2>
      <p class="prose">
        {t("{share} of {all} sign-ups.", {
          share: percent(sum("reject") / total),
          all: count(total),
        })}{" "}
        <Trend outcomes={outcomes} now={sum("reject")} />
      </p>
      <div class="keys">
        {SERIES.map(([decision, colour]) => (
          <span key={decision} class={`key ${colour}`}>
            {decisionWords(decision)} {count(sum(decision))}
          </span>
        ))}
        {ghost.length === 0 ? null : (
          <span class="key dashed">{t("the {n} days before", { n: days.length })}</span>
        )}
      </div>
      <ByDay outcomes={outcomes} ghost={ghost} />
      <Lists outcomes={outcomes} />
    </section>
  );
}

/** What was not accepted on the same days of the period before; nothing when it is not whole. */
function ghostOf({ days, before }: Outcomes): readonly number[] {
  return before.length < days.length ? [] : before.map(notAccepted);
}

const notAccepted = ({ challenge, review, reject }: Outcomes["days"][number]): number =>
  challenge + review + reject;

/** A bar a day or week since the account was made; one bar alone would say nothing. */
function ByDay({
  outcomes,
  ghost,
}: {
  outcomes: Outcomes;
  ghost: readonly number[];
}): VNode | null {
  const known = outcomes.days.map((day) => ({
    date: day.day,
    isUsed: day.accept + notAccepted(day) > 0,
  }));
  const days = outcomes.days.slice(daysBefore(createdDay(), known));
  if (days.length < 2) return null;
  const steps = stepsOf(days.map(({ day }) => day));
  return (
    <Chart
      kind="bars"
      label={
        steps.isWeekly
          ? t("Sign-ups by week that were not accepted at once")
          : t("Sign-ups by day that were not accepted at once")
      }
      steps={steps.names}
      series={SERIES.map(([decision, colour]) => ({
        name: decisionWords(decision),
        colour,
        values: steps.sums(days.map((day) => day[decision])),
      }))}
      before={days.length < outcomes.days.length ? [] : steps.sums(ghost)}
    />
  );
}

/** Against as many days before. */
function Trend({ outcomes, now }: { outcomes: Outcomes; now: number }): VNode | null {
  const { days, before } = outcomes;
  if (before.length < days.length) return null;
  const then = before.reduce((all, { reject }) => all + reject, 0);
  const words =
    now > then
      ? "{n} more than in the {days} days before."
      : now < then
        ? "{n} fewer than in the {days} days before."
        : "As many as in the {days} days before.";
  return <>{t(words, { n: count(Math.abs(now - then)), days: days.length })}</>;
}

function Lists({ outcomes: { reasons, keys } }: { outcomes: Outcomes }): VNode {
  const bad = reasons.filter(({ decision }) => decision !== "accept").slice(0, 6);
  return (
    <div class="even">
      <div>
        <h3 class="small-head">{t("By reason")}</h3>
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
        <h3 class="small-head">{t("By key")}</h3>
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

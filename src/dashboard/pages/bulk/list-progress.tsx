import type { VNode } from "preact";
import type { ListRow } from "../../api/shapes.ts";
import { nowMs } from "../../app/clock.ts";
import { t } from "../../app/i18n.ts";
import type { ListRun } from "../../lists/list-run.ts";
import { count, percent } from "../../app/numbers.ts";
import { Mark } from "../../parts/mark.tsx";
import { type Kind, kindOf, rowReason, rowVerdict } from "../../words/list-row.ts";
import { KindBar, type KindCounts } from "./list-picture.tsx";

type RunningRun = ListRun & { step: "running" };

/** Before that the speed is not known well enough to say when it ends. */
const RECKONED_AFTER_MS = 3_000;

interface Speed {
  readonly perSecond: number;
  /** "" until it is known well enough. */
  readonly left: string;
}

function speedOf({ state, since }: RunningRun): Speed {
  const processed = state.processed_count ?? 0;
  const done = processed - since.processed;
  const tookMs = nowMs() - since.ms;
  if (done <= 0 || tookMs < RECKONED_AFTER_MS) return { perSecond: 0, left: "" };
  const perSecond = (done * 1_000) / tookMs;
  const seconds = Math.ceil(((state.email_count ?? 0) - processed) / perSecond);
  const left =
    seconds > 90
      ? t("about {n} min", { n: Math.ceil(seconds / 60) })
      : t("about {n} s", { n: seconds });
  return { perSecond, left };
}

const NOTHING = { good: 0, disposable: 0, dns: 0, unsure: 0, format: 0 };

/** What the parts that are done, and the one that runs, came to so far. */
function soFar({ rows, state }: RunningRun): KindCounts {
  const counts: Record<Kind, number> = { ...NOTHING };
  for (const row of rows) counts[kindOf(row)] += 1;
  const { so_far: now } = state;
  if (now === undefined) return counts;
  return {
    ...counts,
    good: counts.good + now.valid,
    disposable: counts.disposable + now.disposable,
    dns: counts.dns + now.invalid_dns,
    format: counts.format + now.invalid_format,
  };
}

/** Per cent and how many; a screen reader finds it as the progress of the list. */
function Done({ run }: { run: RunningRun }): VNode {
  const { state, waiting, sessions } = run;
  const { email_count: all = 0, processed_count: processed = 0 } = state;
  const share = all === 0 ? 0 : Math.floor((processed / all) * 1_000) / 1_000;
  const parts = sessions.length + waiting.length;
  const words =
    state.status === "pending"
      ? t("Waiting for its turn")
      : t("{n} of {all} checked", { n: count(processed), all: count(all) });
  return (
    <div
      class="bar"
      role="progressbar"
      aria-label={run.name}
      aria-valuenow={Math.floor(share * 100)}
      aria-valuetext={`${percent(share)}, ${words}`}
    >
      <b class="numeral">{percent(share)}</b>
      <span class="note">
        {words}
        {parts > 1 ? `, ${t("part {n} of {all}", { n: sessions.length, all: parts })}` : ""}
      </span>
    </div>
  );
}

/** Per cent, speed, the bar that grows, and the newest results. */
export function Progress({ run }: { run: RunningRun }): VNode {
  const { state, rows } = run;
  const { email_count: all = 0, processed_count: processed = 0 } = state;
  const speed = speedOf(run);
  const counts = soFar(run);
  return (
    <>
      <section class="sheet stack">
        <Done run={run} />
        <KindBar counts={counts} rest={Math.max(0, all - processed)} />
        <div class="figures">
          <Figure
            value={speed.perSecond === 0 ? "–" : count(Math.round(speed.perSecond))}
            words={t("entries a second")}
          />
          <Figure value={speed.left === "" ? "–" : speed.left} words={t("left")} />
          <Figure value={count(counts.good)} words={t("good so far")} />
          <Figure value={count(counts.disposable)} words={t("disposable so far")} />
          <Figure value={count(rows.length + processed)} words={t("charged so far")} />
        </div>
      </section>
      <Newest state={state} />
    </>
  );
}

function Figure({ value, words }: { value: string; words: string }): VNode {
  return (
    <div class="figure">
      <b>{value}</b>
      <span>{words}</span>
    </div>
  );
}

function Newest({ state: { newest = [] } }: Pick<RunningRun, "state">): VNode {
  const rows: readonly ListRow[] = newest.map(
    ([entry, fate, confidence, signals, , code, meant]) => ({
      entry,
      fate,
      confidence,
      signals,
      code,
      meant,
    }),
  );
  return (
    <section class="sheet stack">
      <h2>{t("Results as they arrive")}</h2>
      {rows.length === 0 ? (
        <p class="note">{t("The first results appear in a few seconds.")}</p>
      ) : (
        <ul class="lines newest">
          {rows.map((row) => {
            const { mark, words } = rowVerdict(row);
            return (
              <li key={row.entry}>
                <span class="mono grow">{row.entry}</span>
                <Mark mark={mark} words={words} />
                <span class="note grow">{rowReason(row)}</span>
              </li>
            );
          })}
        </ul>
      )}
    </section>
  );
}

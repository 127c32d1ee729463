import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { nowMs } from "../../app/clock.ts";
import { t } from "../../app/i18n.ts";
import { listRun, open } from "../../lists/list-run.ts";
import { counted, percent } from "../../app/numbers.ts";
import { shelf, type Shelved } from "../../lists/shelf.ts";
import { Countdown } from "../../parts/countdown.tsx";
import { Meter } from "../../parts/meter.tsx";

const LIFE_MS = 15 * 60_000;
const SOON_MS = 5 * 60_000;

/** The lists of this browser, from every tab, each with the time that its results have left. */
export function Shelf(): VNode | null {
  const run = listRun.value;
  const shown = "sessions" in run ? run.sessions[0] : undefined;
  const others = shelf.value.filter(({ sessions }) => sessions[0] !== shown);
  if (others.length === 0) return null;
  return (
    <section class="stack unprinted" aria-labelledby="shelf">
      <div class="bar">
        <h2 id="shelf">{t("Recent lists")}</h2>
        <span class="note push">{t("Results stay for 15 minutes.")}</span>
      </div>
      <ul class="shelf">
        {others.map((list) => (
          <Card key={list.sessions[0]} list={list} />
        ))}
      </ul>
    </section>
  );
}

function wordsOf({ entries, good }: Shelved): string {
  if (entries === undefined) return "";
  const all = counted(entries, "{n} entry", "{n} entries");
  return good === undefined || entries === 0
    ? all
    : `${all}, ${t("{share} good", { share: percent(good / entries) })}`;
}

function Card({ list }: { list: Shelved }): VNode {
  const { sessions, name, expiresAtMs } = list;
  const [now, setNow] = useState(nowMs);
  useEffect(() => {
    const timer = setInterval(() => setNow(nowMs()), 10_000);
    return () => clearInterval(timer);
  }, []);
  const leftMs = expiresAtMs === undefined ? LIFE_MS : expiresAtMs - now;
  const isGone = leftMs <= 0;
  return (
    <li class={isGone ? "sheet stack close gone" : "sheet stack close"}>
      {isGone ? (
        <b>{name}</b>
      ) : (
        <button
          type="button"
          class="link"
          onClick={() => void open({ sessions, name, source: undefined, waiting: [] })}
        >
          {name}
        </button>
      )}
      <span class="note">{wordsOf(list)}</span>
      {expiresAtMs === undefined || isGone ? null : (
        <span class={leftMs < SOON_MS ? "k-unsure" : ""}>
          <Meter share={leftMs / LIFE_MS} />
        </span>
      )}
      <span class="note">
        {expiresAtMs === undefined ? (
          t("Running")
        ) : (
          <Countdown
            untilMs={expiresAtMs}
            words={t("Deleted in {time}")}
            past={t("Deleted. Choose the file again to repeat it.")}
          />
        )}
      </span>
    </li>
  );
}

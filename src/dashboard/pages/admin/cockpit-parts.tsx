import type { VNode } from "preact";
import type { Cockpit } from "../../api/shapes.ts";
import { t } from "../../app/i18n.ts";
import { count, percent } from "../../app/numbers.ts";
import { Mark } from "../../parts/mark.tsx";

/** Of all domains that were checked; a check may be of two kinds. */
export function Verdicts({ verdicts }: { verdicts: Cockpit["verdicts"] }): VNode | null {
  const all = verdicts.disposable + verdicts.other;
  if (all === 0) return null;
  const bad = verdicts.disposable + verdicts.no_mail + verdicts.no_answer;
  const rows = [
    [t("disposable"), "k-no", verdicts.disposable],
    [t("no mail server"), "k-no-2", verdicts.no_mail],
    [t("could not tell"), "k-quiet", verdicts.no_answer],
  ] as const;
  return (
    <section class="sheet stack close">
      <h2>{t("What the verdicts were")}</h2>
      <div class="split" aria-hidden="true">
        <i class="k-yes" style={flexOf(Math.max(0, all - bad))} />
        {rows.map(([name, colour, times]) =>
          times === 0 ? null : <i key={name} class={colour} style={flexOf(times)} />,
        )}
      </div>
      <div class="keys">
        {rows.map(([name, colour, times]) => (
          <span key={name} class={`key ${colour}`}>
            {name} <b>{percent(times / all)}</b> {count(times)}
          </span>
        ))}
        <span class="note">{t("of {n} checks", { n: count(all) })}</span>
      </div>
    </section>
  );
}

const flexOf = (times: number): { flex: string } => ({ flex: `${String(times)} 1 0` });

/** Resources of which somebody wanted more than a share. */
export function HeldBack({ rows }: { rows: Cockpit["held_back"] }): VNode {
  return (
    <section class="sheet stack close">
      <h2>{t("Held back")}</h2>
      {rows.length === 0 ? (
        <Mark mark="yes" words={t("Everybody got their share since the start.")} />
      ) : (
        <ul class="lines">
          {rows.map(({ resource, refused, waiting }) => (
            <li key={resource}>
              <code class="grow">{resource}</code>
              <span class="note">
                {t("{refused} refused, {waiting} waiting", {
                  refused: count(refused),
                  waiting: count(waiting),
                })}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

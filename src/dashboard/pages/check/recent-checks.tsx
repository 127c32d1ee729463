import type { VNode } from "preact";
import { check } from "../../app/check-run.ts";
import { t } from "../../app/i18n.ts";
import { clearRecent, recent } from "../../app/recent.ts";
import { Mark } from "../../parts/mark.tsx";

/** The last checks of this tab, each to be opened again. */
export function RecentChecks(): VNode | null {
  if (recent.value.length === 0) return null;
  return (
    <section class="sheet stack close unprinted">
      <div class="bar">
        <h2>{t("Recent checks")}</h2>
        <button type="button" class="small plain push" onClick={clearRecent}>
          {t("Clear")}
        </button>
      </div>
      <ul class="lines">
        {recent.value.map(({ entry, mark, stamp }) => (
          <li key={entry}>
            <a
              class="mono grow"
              href={`/#${encodeURIComponent(entry)}`}
              onClick={(event) => {
                event.preventDefault();
                check(entry);
                scrollTo(0, 0);
              }}
            >
              {entry}
            </a>
            <Mark mark={mark} words={stamp} />
          </li>
        ))}
      </ul>
      <p class="note">{t("Kept in this tab only.")}</p>
    </section>
  );
}

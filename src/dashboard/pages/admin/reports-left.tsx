import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { OpenReports, ReportShape } from "../../api/shapes.ts";
import { t } from "../../app/i18n.ts";
import { useLoad } from "../../app/load.ts";
import { counted } from "../../app/numbers.ts";
import { Mark } from "../../parts/mark.tsx";
import { Shown } from "../../parts/states.tsx";
import { Time } from "../../parts/time.tsx";
import { wrongWords } from "../../words/rules.ts";
import { Settle } from "./reports.tsx";

/** How many reports wait, and the newest, each to be settled here. */
export function ReportsLeft(): VNode {
  const loading = useLoad<OpenReports>("admin/lists/reports");
  const [chosen, setChosen] = useState<ReportShape>();
  return (
    <section class="sheet stack close">
      <div class="bar">
        <h2>{t("Reports to settle")}</h2>
        <a class="push" href="/admin/lists">
          {t("Open them")}
        </a>
      </div>
      <Shown loading={loading} lines={1}>
        {({ total, newest }) => (
          <>
            <Mark
              mark={total === 0 ? "yes" : "unsure"}
              words={
                total === 0
                  ? t("Nothing to settle")
                  : counted(total, "{n} report waits", "{n} reports wait")
              }
            />
            <ul class="lines">
              {newest.map((report) => (
                <Line key={report.id} report={report} onChoose={setChosen} />
              ))}
            </ul>
          </>
        )}
      </Shown>
      {chosen === undefined ? null : (
        <Settle
          report={chosen}
          onClose={() => setChosen(undefined)}
          onDone={() => loading.reload()}
        />
      )}
    </section>
  );
}

function Line(props: { report: ReportShape; onChoose: (report: ReportShape) => void }): VNode {
  const { report, onChoose } = props;
  return (
    <li>
      <span class="grow break">
        <code>{report.domain}</code>{" "}
        <span class="note">
          {wrongWords(report.wrong)}, <Time at={report.created_at} />
          {report.reason === "" ? "" : `: ${report.reason}`}
        </span>
      </span>
      <button type="button" class="small" onClick={() => onChoose(report)}>
        {t("Settle")}
        <span class="unseen"> {t("the report about {domain}", { domain: report.domain })}</span>
      </button>
    </li>
  );
}

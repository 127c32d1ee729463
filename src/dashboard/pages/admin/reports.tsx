import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { detailsBody } from "../../api/rules.ts";
import { announce } from "../../app/announce.ts";
import { useAction, useLoad } from "../../app/load.ts";
import { count, counted } from "../../app/numbers.ts";
import { Dialog, FormFoot } from "../../parts/dialog.tsx";
import { EntryDetails } from "../../parts/entry-details.tsx";
import { Empty, Fault, Shown } from "../../parts/states.tsx";
import { Time } from "../../parts/time.tsx";
import { entryWords, wrongWords } from "../../words/rules.ts";
import { t } from "../../app/i18n.ts";
import type { OpenReports, ReportShape } from "../../api/shapes.ts";

/** What clients say is wrong, oldest first, each to be settled once. */
export function Reports({ onSettled }: { onSettled: () => void }): VNode {
  const loading = useLoad<OpenReports>("admin/lists/reports");
  const [chosen, setChosen] = useState<ReportShape>();
  return (
    <section class="sheet stack">
      <h2>{t("Reports to settle")}</h2>
      <Shown loading={loading} lines={4}>
        {(open) =>
          open.reports.length === 0 ? (
            <Empty title={t("Nothing to settle")}>
              <p>
                {t(
                  "When a client of the API reports a wrong verdict, it waits here for your word: allow it, deny it, or dismiss the report.",
                )}
              </p>
            </Empty>
          ) : (
            <ReportTable open={open} onChoose={setChosen} />
          )
        }
      </Shown>
      {chosen === undefined ? null : (
        <Settle
          report={chosen}
          onClose={() => setChosen(undefined)}
          onDone={() => {
            loading.reload();
            onSettled();
          }}
        />
      )}
    </section>
  );
}

function ReportTable(props: { open: OpenReports; onChoose: (report: ReportShape) => void }): VNode {
  const { reports, total } = props.open;
  return (
    <>
      <p class="note" role="status">
        {total > reports.length
          ? t("The oldest {n} of {all}", {
              n: count(reports.length),
              all: counted(total, "{n} report", "{n} reports"),
            })
          : counted(total, "{n} report", "{n} reports")}
      </p>
      <div class="scroll tall queue" tabIndex={0} role="region" aria-label={t("Reports to settle")}>
        <table class="folds">
          <thead>
            <tr>
              <th scope="col">{t("About")}</th>
              <th scope="col">{t("Said to be wrong")}</th>
              <th scope="col">{t("In their words")}</th>
              <th scope="col">{t("When")}</th>
              <th scope="col">
                <span class="unseen">{t("Settle")}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {reports.map((report) => (
              <ReportRow key={report.id} report={report} onChoose={props.onChoose} />
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function ReportRow(props: { report: ReportShape; onChoose: (report: ReportShape) => void }): VNode {
  const { report } = props;
  return (
    <tr>
      <td class="break subject">
        <code>{report.domain}</code>
        {report.entry === report.domain ? null : <div class="note">{t("one address there")}</div>}
      </td>
      <td class="wrong">{wrongWords(report.wrong)}</td>
      <td class="break reason">{report.reason === "" ? t("No reason given") : report.reason}</td>
      <td class="when">
        <Time at={report.created_at} />
      </td>
      <td class="act">
        <button type="button" class="small" onClick={() => props.onChoose(report)}>
          {t("Settle")}
          <span class="unseen"> {t("the report about {domain}", { domain: report.domain })}</span>
        </button>
      </td>
    </tr>
  );
}

const CHOICES = [
  ["allow", "Allow it", "It is good, whatever lists say."],
  ["deny", "Deny it", "It is disposable, whatever lists say."],
  ["dismiss", "Dismiss the report", "The verdict stands as it is."],
] as const;
type Choice = (typeof CHOICES)[number][0];

const DONE: Readonly<Record<Choice, string>> = {
  allow: "Allowed.",
  deny: "Denied.",
  dismiss: "Report dismissed.",
};

/** The dialog that ends a report. */
export function Settle(props: {
  report: ReportShape;
  onClose: () => void;
  onDone: () => void;
}): VNode {
  const { report } = props;
  const [choice, setChoice] = useState<Choice>("allow");
  const [details, setDetails] = useState({ note: "", lastDay: "" });
  const { busy, fault, run } = useAction();
  const submit = (event: Event): void => {
    event.preventDefault();
    run(async () => {
      const body = { resolution: choice, ...detailsBody(details) };
      await call("POST", `admin/lists/reports/${report.id}`, body);
      announce(t(DONE[choice]));
      props.onDone();
      props.onClose();
    });
  };
  return (
    <Dialog
      title={t("Settle: {entry}", { entry: entryWords(report.entry) })}
      onClose={props.onClose}
    >
      <form class="stack" onSubmit={submit}>
        <div class="prose break">
          {report.reason === ""
            ? t("A client doubts {wrong} and gave no reason.", { wrong: wrongWords(report.wrong) })
            : t("A client doubts {wrong}: “{reason}”", {
                wrong: wrongWords(report.wrong),
                reason: report.reason,
              })}
        </div>
        <Choices choice={choice} onChoice={setChoice} />
        {choice === "dismiss" ? null : <EntryDetails details={details} onDetails={setDetails} />}
        <Fault text={fault} />
        <FormFoot
          act={t(CHOICES.find(([name]) => name === choice)?.[1] ?? "")}
          leave={t("Not now")}
          disabled={busy}
          onClose={props.onClose}
        />
      </form>
    </Dialog>
  );
}

function Choices(props: { choice: Choice; onChoice: (choice: Choice) => void }): VNode {
  return (
    <fieldset class="choices">
      <legend class="label">{t("Your word")}</legend>
      {CHOICES.map(([name, words, means]) => (
        <label key={name} class="choice">
          <input
            type="radio"
            name="resolution"
            checked={props.choice === name}
            onChange={() => props.onChoice(name)}
          />
          <span>
            {t(words)}
            <span class="note"> {t(means)}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

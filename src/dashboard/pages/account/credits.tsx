import type { VNode } from "preact";
import type { CreditEntry, Credits } from "../../api/shapes.ts";
import { useLoad } from "../../app/load.ts";
import { count } from "../../app/numbers.ts";
import { PageHead } from "../../parts/page-head.tsx";
import { Empty, Shown } from "../../parts/states.tsx";
import { t } from "../../app/i18n.ts";
import { Time } from "../../parts/time.tsx";

export function CreditsPage(): VNode {
  const loading = useLoad<Credits>("credits");
  return (
    <>
      <PageHead
        title={t("Credits")}
        lead={t(
          "One credit pays for one check. Credits are used when the plan's rate or quota is spent and they cover the whole request. They do not expire.",
        )}
      />
      <Shown loading={loading} lines={5}>
        {(credits) => (
          <>
            <section class="sheet figure">
              <b class="numeral">{count(credits.balance)}</b>
              <span>{t("credits left")}</span>
            </section>
            <section class="sheet">
              <h2>{t("Every movement")}</h2>
              {credits.entries.length === 0 ? <NoEntries /> : <Ledger entries={credits.entries} />}
            </section>
          </>
        )}
      </Shown>
    </>
  );
}

function NoEntries(): VNode {
  return (
    <Empty title={t("Nothing has moved yet")}>
      <p>
        {t("Credits are granted by the operator of this service. Ask there to have some added.")}
      </p>
    </Empty>
  );
}

const REASONS: Readonly<Record<CreditEntry["reason"], string>> = {
  grant: "Granted",
  charge: "Checks",
  refund: "Given back",
};

function wordsOf({ reason, reference, amount }: CreditEntry): string {
  if (reason !== "grant") return t(REASONS[reason]);
  const word = t(amount < 0 ? "Taken back" : REASONS.grant);
  return reference === "" ? word : t("{name}: {value}", { name: word, value: reference });
}

const signed = (amount: number): string =>
  amount > 0 ? `+${count(amount)}` : `−${count(-amount)}`;

function Ledger({ entries }: { entries: readonly CreditEntry[] }): VNode {
  return (
    <div class="scroll">
      <table class="folds">
        <thead>
          <tr>
            <th scope="col">{t("When")}</th>
            <th scope="col">{t("What")}</th>
            <th scope="col" class="number">
              {t("Credits")}
            </th>
            <th scope="col" class="number">
              {t("Balance")}
            </th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry, at) => (
            <tr key={at}>
              <td>
                <Time at={entry.created_at} />
              </td>
              <td class="break">{wordsOf(entry)}</td>
              <td class="number" data-label={t("Credits")}>
                {signed(entry.amount)}
              </td>
              <td class="number" data-label={t("Balance")}>
                {count(entry.balance_after)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

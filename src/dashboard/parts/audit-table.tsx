import type { VNode } from "preact";
import type { AuditEntry } from "../api/shapes.ts";
import { actionWords } from "../words/audit.ts";
import { t } from "../app/i18n.ts";
import { Time } from "./time.tsx";

/** Who changed what, when and from where; with `whose`, in which account. `own` is "You". */
export function AuditTable(props: {
  entries: readonly AuditEntry[];
  whose?: true;
  own?: string;
}): VNode {
  const hasWhose = props.whose === true;
  return (
    <div class="scroll tall" tabIndex={0} role="region" aria-label={t("What happened")}>
      <table class="folds">
        <thead>
          <tr>
            <th scope="col">{t("When")}</th>
            <th scope="col">{t("What")}</th>
            <th scope="col">{t("Who")}</th>
            {hasWhose ? <th scope="col">{t("Whose account")}</th> : null}
            <th scope="col">{t("From")}</th>
          </tr>
        </thead>
        <tbody>
          {props.entries.map((entry) => (
            <tr key={entry.id}>
              <td>
                <Time at={entry.at} />
              </td>
              <td class="break what">{actionWords(entry)}</td>
              <td class="break" data-label={t("By")}>
                {entry.actor === props.own ? t("You") : entry.actor}
              </td>
              {hasWhose ? (
                <td class="break" data-label={t("In")}>
                  {entry.subject === entry.actor ? t("own") : entry.subject}
                </td>
              ) : null}
              <td class="from" data-label={t("From")}>
                {entry.client_address === "" ? "–" : entry.client_address}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

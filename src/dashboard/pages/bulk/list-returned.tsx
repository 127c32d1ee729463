import type { VNode } from "preact";
import { t } from "../../app/i18n.ts";
import { Mark } from "../../parts/mark.tsx";

const ROWS = [
  ["k.larsen@posteo.de", "yes", "Good", "", ""],
  [
    "maria@gmail.con",
    "unsure",
    "Misspelt",
    "The domain looks like a misspelling.",
    "maria@gmail.com",
  ],
  ["o.brien@sharklasers.com", "no", "Disposable", "On the lists of disposable domains.", ""],
  ["info@old-mill.example", "no", "No mail server", "The domain names no mail server.", ""],
] as const;

/** What a list comes back as, before there is one. */
export function Returned(): VNode {
  return (
    <section class="sheet stack">
      <h2>{t("What you get back")}</h2>
      <p class="prose">
        {t(
          "Your file with all its columns, and in each row a verdict, a reason and, for a typing error, the address that was meant.",
        )}
      </p>
      <div class="scroll">
        <table class="folds">
          <thead>
            <tr>
              <th scope="col">{t("Entry")}</th>
              <th scope="col">{t("Verdict")}</th>
              <th scope="col">{t("Why")}</th>
              <th scope="col">{t("Suggestion")}</th>
            </tr>
          </thead>
          <tbody>
            {ROWS.map(([entry, mark, words, why, meant]) => (
              <tr key={entry}>
                <td class="mono">{entry}</td>
                <td>
                  <Mark mark={mark} words={t(words)} />
                </td>
                <td>{why === "" ? "" : t(why)}</td>
                <td class="mono">{meant}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

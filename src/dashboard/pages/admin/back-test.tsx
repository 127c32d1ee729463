import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { backTest } from "../../api/rules.ts";
import { useAction } from "../../app/load.ts";
import { count, counted } from "../../app/numbers.ts";
import { Fault } from "../../parts/states.tsx";
import { t, tx } from "../../app/i18n.ts";
import type { BackTestShape } from "../../api/shapes.ts";

/** Asks what a list would have changed before anything is saved. */
export function BackTestForm(): VNode {
  const [text, setText] = useState("");
  const [tested, setTested] = useState<BackTestShape>();
  const { busy, fault, run } = useAction();
  return (
    <section class="sheet stack">
      <h2>{t("Try a list before you import it")}</h2>
      <p class="prose">
        {t("See which checks of the last days would have ended otherwise. Nothing is saved.")}
      </p>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          run(async () => {
            setTested(undefined);
            setTested(await backTest(text));
          });
        }}
      >
        <label class="field">
          <span class="label">{t("Entries, one a line")}</span>
          <textarea
            rows={4}
            value={text}
            spellcheck={false}
            placeholder={t("deny bad.example\nallow good.example")}
            onInput={(event) => setText(event.currentTarget.value)}
          />
          <span class="note">{t("A line without a word denies.")}</span>
        </label>
        <div>
          <button type="submit" disabled={busy || text.trim() === ""}>
            {busy ? t("Counting…") : t("What would have changed?")}
          </button>
        </div>
      </form>
      <Fault text={fault} />
      <div aria-live="polite">{tested === undefined ? null : <Tested tested={tested} />}</div>
    </section>
  );
}

function Tested({ tested }: { tested: BackTestShape }): VNode {
  const { days, checks, domains, untestable } = tested;
  return (
    <div class="stack">
      <p class="note">
        {t("Out of {checks} of {domains} in the last {days}.", {
          checks: counted(checks, "{n} check", "{n} checks"),
          domains: counted(domains, "{n} domain", "{n} domains"),
          days: counted(days, "{n} day", "{n} days"),
        })}{" "}
        {untestable === 0
          ? ""
          : counted(
              untestable,
              "{n} entry about an address cannot be tested: only domains and their mail servers are counted.",
              "{n} entries about addresses cannot be tested: only domains and their mail servers are counted.",
            )}
      </p>
      {tested.changed_domains === 0 ? (
        <p class="notice yes">{t("Nothing would have changed.")}</p>
      ) : (
        <Changed tested={tested} />
      )}
    </div>
  );
}

function Changed({ tested }: { tested: BackTestShape }): VNode {
  const { changed, changed_checks: checks, changed_domains: domains } = tested;
  return (
    <>
      <p class="notice unsure">
        {t("{checks} of {domains} would have ended otherwise.", {
          checks: counted(checks, "{n} check", "{n} checks"),
          domains: counted(domains, "{n} domain", "{n} domains"),
        })}
      </p>
      <div class="scroll tall" tabIndex={0} role="region" aria-label={t("What would have changed")}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t("Domain")}</th>
              <th scope="col">{t("Becomes")}</th>
              <th scope="col" class="number">
                {t("Checks")}
              </th>
            </tr>
          </thead>
          <tbody>
            {changed.map(({ domain, becomes, checks: its }) => (
              <tr key={domain}>
                <td class="mono">{domain}</td>
                <td>
                  <span class={becomes === "fine" ? "chip yes" : "chip no"}>
                    {becomes === "fine" ? t("Not disposable") : t("Disposable")}
                  </span>
                </td>
                <td class="number">{count(its)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {changed.length < domains ? (
        <p class="note">
          {tx("The {length} with the most checks are shown.", { length: count(changed.length) })}
        </p>
      ) : null}
    </>
  );
}

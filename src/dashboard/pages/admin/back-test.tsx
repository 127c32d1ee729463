import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { backTest } from "../../api/rules.ts";
import { useAction } from "../../app/load.ts";
import { count, counted } from "../../app/numbers.ts";
import { Fault } from "../../parts/states.tsx";
import type { BackTestShape } from "../../api/shapes.ts";

/** Asks what a list would have changed before anything is saved. */
export function BackTestForm(): VNode {
  const [text, setText] = useState("");
  const [tested, setTested] = useState<BackTestShape>();
  const { busy, fault, run } = useAction();
  return (
    <section class="sheet stack">
      <h2>Try a list before you import it</h2>
      <p class="prose">
        See which checks of the last days would have ended otherwise. Nothing is saved.
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
          <span class="label">Entries, one a line</span>
          <textarea
            rows={4}
            value={text}
            spellcheck={false}
            placeholder={"deny bad.example\nallow good.example"}
            onInput={(event) => setText(event.currentTarget.value)}
          />
          <span class="note">A line without a word denies.</span>
        </label>
        <div>
          <button type="submit" disabled={busy || text.trim() === ""}>
            {busy ? "Counting…" : "What would have changed?"}
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
        Out of {counted(checks, "{n} check", "{n} checks")} of{" "}
        {counted(domains, "{n} domain", "{n} domains")} in the last{" "}
        {counted(days, "{n} day", "{n} days")}.
        {untestable === 0
          ? ""
          : ` ${counted(untestable, "{n} entry", "{n} entries")} about addresses cannot be tested: only domains and their mail servers are counted.`}
      </p>
      {tested.changed_domains === 0 ? (
        <p class="notice yes">Nothing would have changed.</p>
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
        {counted(checks, "{n} check", "{n} checks")} of{" "}
        {counted(domains, "{n} domain", "{n} domains")} would have ended otherwise.
      </p>
      <div class="scroll tall" tabIndex={0} role="region" aria-label="What would have changed">
        <table>
          <thead>
            <tr>
              <th scope="col">Domain</th>
              <th scope="col">Becomes</th>
              <th scope="col" class="number">
                Checks
              </th>
            </tr>
          </thead>
          <tbody>
            {changed.map(({ domain, becomes, checks: its }) => (
              <tr key={domain}>
                <td class="mono">{domain}</td>
                <td>
                  <span class={becomes === "fine" ? "chip yes" : "chip no"}>
                    {becomes === "fine" ? "Not disposable" : "Disposable"}
                  </span>
                </td>
                <td class="number">{count(its)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {changed.length < domains ? (
        <p class="note">The {count(changed.length)} with the most checks are shown.</p>
      ) : null}
    </>
  );
}

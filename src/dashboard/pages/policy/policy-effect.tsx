import type { VNode } from "preact";
import {
  type Decision,
  DECISIONS,
  endShadow,
  type OpenPolicy,
  type Pair,
  promoteShadow,
  type ShadowState,
} from "../../api/gate.ts";
import { t } from "../../app/i18n.ts";
import { useAction, useLoad } from "../../app/load.ts";
import { count } from "../../app/numbers.ts";
import { Fault, Shown } from "../../parts/states.tsx";
import { decisionWords } from "../../words/policy.ts";

const COLOURS: Readonly<Record<Decision, string>> = {
  accept: "k-yes",
  challenge: "k-accent-2",
  review: "k-unsure",
  reject: "k-no",
};

/** Decisions as one bar, with its words. */
export function DecisionBar(props: { name: string; counts: Counts }): VNode {
  const { name, counts } = props;
  const words = DECISIONS.map((one) => `${decisionWords(one)} ${count(counts[one])}`).join(", ");
  return (
    <div class="decision-bar">
      <span class="note">{name}</span>
      <div class="split" role="img" aria-label={`${name}: ${words}`}>
        {DECISIONS.filter((one) => counts[one] > 0).map((one) => (
          <i key={one} class={COLOURS[one]} style={{ flex: `${String(counts[one])} 1 0` }} />
        ))}
      </div>
    </div>
  );
}

type Counts = Readonly<Record<Decision, number>>;

/** The words of the bars' colours, each with its count in the first bar and, where it differs, in the second. */
export function DecisionKeys({ was, becomes }: { was: Counts; becomes: Counts }): VNode {
  return (
    <div class="keys">
      {DECISIONS.map((one) => (
        <span key={one} class={`key ${COLOURS[one]}`}>
          {decisionWords(one)} {count(was[one])}
          {was[one] === becomes[one] ? "" : ` → ${count(becomes[one])}`}
        </span>
      ))}
    </div>
  );
}

function sums(pairs: readonly Pair[], side: "live" | "shadow"): Record<Decision, number> {
  const made = { accept: 0, challenge: 0, review: 0, reject: 0 };
  for (const pair of pairs) made[pair[side]] += pair.count;
  return made;
}

/** What the shadow would have changed, before anything else on the page. */
export function Effect({ policy, onChange }: { policy: OpenPolicy; onChange: () => void }): VNode {
  const name = encodeURIComponent(policy.name);
  const loading = useLoad<ShadowState>(`policies/${name}/shadow?days=30`);
  const { busy, fault, run } = useAction();
  const act = (work: (name: string) => Promise<unknown>): void =>
    run(async () => {
      await work(policy.name);
      onChange();
    });
  return (
    <section class="sheet stack">
      <Shown loading={loading} lines={4}>
        {(state) => (
          <>
            <Changed state={state} />
            <Fault text={fault} />
            <div class="bar">
              <button type="button" class="main" disabled={busy} onClick={() => act(promoteShadow)}>
                {t("Make {n} live", { n: policy.shadow ?? 0 })}
              </button>
              <button type="button" class="plain" disabled={busy} onClick={() => act(endShadow)}>
                {t("Discard {n}", { n: policy.shadow ?? 0 })}
              </button>
            </div>
          </>
        )}
      </Shown>
    </section>
  );
}

function Changed({ state }: { state: ShadowState }): VNode {
  const { pairs, live, shadow, total, changed, domains } = state;
  const moves = pairs.filter((pair) => pair.live !== pair.shadow);
  return (
    <>
      <h2 class="say">
        {total === 0
          ? t("Version {n} has seen no sign-ups yet.", { n: shadow ?? 0 })
          : t("Version {n} would have changed {changed} of {total} sign-ups.", {
              n: shadow ?? 0,
              changed: count(changed),
              total: count(total),
            })}
      </h2>
      {total === 0 ? null : (
        <>
          <DecisionBar name={t("{n}, live", { n: live })} counts={sums(pairs, "live")} />
          <DecisionBar name={t("{n}, shadow", { n: shadow ?? 0 })} counts={sums(pairs, "shadow")} />
          <DecisionKeys was={sums(pairs, "live")} becomes={sums(pairs, "shadow")} />
          <div class="figures">
            {moves.map((pair) => (
              <div key={`${pair.live} ${pair.shadow}`} class="figure">
                <b>{count(pair.count)}</b>
                <span>
                  {decisionWords(pair.live)} → {decisionWords(pair.shadow)}
                </span>
              </div>
            ))}
          </div>
          {domains.length === 0 ? null : (
            <details>
              <summary>{t("See the domains")}</summary>
              <ul class="lines">
                {domains.map(({ day, domain, live: was, shadow: becomes, count: times }) => (
                  <li key={`${day} ${domain} ${was} ${becomes}`}>
                    <span class="mono grow">{domain}</span>
                    <span class="note">
                      {decisionWords(was)} → {decisionWords(becomes)}, {count(times)}
                    </span>
                  </li>
                ))}
              </ul>
            </details>
          )}
        </>
      )}
    </>
  );
}

import type { VNode } from "preact";
import { ApiFault, call, post } from "../lib/client.ts";
import { count } from "../lib/format.ts";
import { readyValue, useLoad } from "../lib/load.ts";
import type { PolicyPage as Opened, ShadowReport } from "../lib/shapes.ts";
import { announce, say } from "../lib/state.ts";
import { Lines, PageLink, Shown } from "../parts/basic.tsx";
import { Act, Ask } from "../parts/form.tsx";
import {
  type Counts,
  type Decision,
  DECISION,
  DECISIONS,
  inRules,
  mayRefuseMore,
  type PolicyDocument,
} from "../words/policy.ts";

/** The three pages of the gate. */
export const GateTabs = (): VNode => (
  <nav class="tabs" aria-label="Gate">
    <PageLink href="gate" exact>
      Policy
    </PageLink>
    <PageLink href="gate/decisions">Decisions</PageLink>
    <PageLink href="gate/hooks">Hooks and keys for pages</PageLink>
  </nav>
);

/** A policy whose document is known to be one. */
export type Policy = Omit<Opened, "document"> & { readonly document: PolicyDocument };

export const at = (name: string, rest = ""): string =>
  `policies/${encodeURIComponent(name)}${rest}`;

/** Rules in the server's refusals have the number that the page shows. */
export const asked = <Answer,>(work: Promise<Answer>): Promise<Answer> =>
  work.catch((error: unknown) => {
    if (!(error instanceof ApiFault)) throw error;
    throw new ApiFault(error.status, inRules(error.message));
  });

/** Makes a document live, and says how to take it back. */
export async function makeLive(
  policy: Policy,
  work: () => Promise<{ readonly version: number }>,
  onChange: () => void,
): Promise<void> {
  const { version } = await asked(work());
  onChange();
  say(`Version ${String(version)} is live.`, async () => {
    await post(at(policy.name), { document: policy.document });
    announce("The rules before are live again, as a new version.");
    onChange();
  });
}

/** Two sets of decisions as bars, with their words and counts. */
export function DecisionBars(props: {
  names: readonly [string, string];
  was: Counts;
  becomes: Counts;
}): VNode {
  const { names, was, becomes } = props;
  return (
    <>
      {[was, becomes].map((counts, at) => {
        const name = names[at] ?? "";
        const words = DECISIONS.map((one) => `${DECISION[one].words} ${count(counts[one])}`);
        return (
          <div key={name} class="decision-bar">
            <span class="note">{name}</span>
            <div class="split" role="img" aria-label={`${name}: ${words.join(", ")}`}>
              {DECISIONS.filter((one) => counts[one] > 0).map((one) => (
                <i
                  key={one}
                  class={DECISION[one].colour}
                  style={{ flex: `${String(counts[one])} 1 0` }}
                />
              ))}
            </div>
          </div>
        );
      })}
      <div class="keys">
        {DECISIONS.map((one) => (
          <span key={one} class={`key ${DECISION[one].colour}`}>
            {DECISION[one].words} {count(was[one])}
            {was[one] === becomes[one] ? "" : ` → ${count(becomes[one])}`}
          </span>
        ))}
      </div>
    </>
  );
}

type Pairs = ShadowReport["pairs"];

function sums(pairs: Pairs, side: "live" | "shadow"): Counts {
  const made: Record<Decision, number> = { accept: 0, challenge: 0, review: 0, reject: 0 };
  for (const pair of pairs) made[pair[side]] += pair.count;
  return made;
}

/** What the shadow would have changed of the account's own sign-ups, before anything else on the page. */
export function Effect({ policy, onChange }: { policy: Policy; onChange: () => void }): VNode {
  const loading = useLoad<ShadowReport>(at(policy.name, "/shadow?days=30"));
  const shadow = String(policy.shadow);
  const end = async (): Promise<void> => {
    await call("DELETE", at(policy.name, "/shadow"));
    onChange();
    say(`Version ${shadow} no longer runs in the shadow.`, async () => {
      await post(at(policy.name, "/shadow"), { version: policy.shadow });
      onChange();
    });
  };
  return (
    <section class="sheet stack">
      <Shown loading={loading} lines={4}>
        {(report) => (
          <>
            <Changed report={report} />
            <div class="bar">
              <MakeLive {...{ policy, report, onChange }} />
              <Act act={`Discard ${shadow}`} class="plain" work={end} />
            </div>
          </>
        )}
      </Shown>
    </section>
  );
}

/** Asks when the shadow refused more people, or might. */
function MakeLive(props: { policy: Policy; report: ShadowReport; onChange: () => void }): VNode {
  const { policy, report, onChange } = props;
  const shadow = readyValue(useLoad<Policy>(at(policy.name, `?version=${String(policy.shadow)}`)));
  const act = `Make ${String(policy.shadow)} live`;
  const [was, becomes] = [sums(report.pairs, "live").reject, sums(report.pairs, "shadow").reject];
  const isUnknown =
    report.total === 0 && (shadow === undefined || mayRefuseMore(policy.document, shadow.document));
  const work = (): Promise<void> =>
    makeLive(policy, () => post(at(policy.name, "/promote")), onChange);
  if (becomes <= was && !isUnknown) return <Act act={act} class="main" work={work} />;
  return (
    <Ask act={act} class="main" title="Refuse more people?" work={work}>
      {report.total === 0
        ? "It has seen no sign-ups yet, and it may refuse people whom the live version lets in."
        : `Of your ${count(report.total)} sign-ups it would have refused ${count(becomes)}, the live version ${count(was)}.`}
    </Ask>
  );
}

function Changed({ report }: { report: ShadowReport }): VNode {
  const { pairs, live, shadow, total, changed, domains } = report;
  const version = String(shadow ?? 0);
  if (total === 0) return <h2 class="say">Version {version} has seen no sign-ups yet.</h2>;
  return (
    <>
      <h2 class="say">
        Version {version} would have changed {count(changed)} of your {count(total)} sign-ups.
      </h2>
      <DecisionBars
        names={[`${String(live)}, live`, `${version}, shadow`]}
        was={sums(pairs, "live")}
        becomes={sums(pairs, "shadow")}
      />
      <div class="figures">
        {pairs
          .filter((pair) => pair.live !== pair.shadow)
          .map((pair) => (
            <div key={`${pair.live} ${pair.shadow}`} class="figure">
              <b>{count(pair.count)}</b>
              <span>
                {DECISION[pair.live].words} → {DECISION[pair.shadow].words}
              </span>
            </div>
          ))}
      </div>
      {domains.length === 0 ? null : (
        <details>
          <summary>See the domains</summary>
          <Lines
            rows={domains.map(({ domain, live: was, shadow: becomes, count: times }) => [
              <span class="mono">{domain}</span>,
              <span class="note">
                {DECISION[was].words} → {DECISION[becomes].words}, {count(times)}
              </span>,
            ])}
          />
        </details>
      )}
    </>
  );
}

import type { VNode } from "preact";
import { ApiFault, call, post } from "../lib/client.ts";
import { count } from "../lib/format.ts";
import { useLoad } from "../lib/load.ts";
import type { PolicyPage as Opened, ShadowReport } from "../lib/shapes.ts";
import { announce, say } from "../lib/state.ts";
import { Lines, PageLink, Shown } from "../parts/basic.tsx";
import { Split } from "../parts/chart.tsx";
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
  { name, document }: Policy,
  work: () => Promise<{ readonly version: number }>,
): Promise<void> {
  const { version } = await asked(work());
  say(`Version ${String(version)} is live.`, async () => {
    await post(at(name), { document });
    announce("The rules before are live again, as a new version.");
  });
}

/** Two sets of decisions as bars, with their words and counts. */
export const DecisionBars = (props: {
  names: readonly [string, string];
  was: Counts;
  becomes: Counts;
}): VNode => (
  <>
    {[props.was, props.becomes].map((counts, at) => (
      <div key={at} class="decision-bar">
        <span class="note">{props.names[at]}</span>
        <Split
          label={props.names[at] ?? ""}
          parts={DECISIONS.map((one) => [DECISION[one].words, DECISION[one].colour, counts[one]])}
        />
      </div>
    ))}
    <div class="keys">
      {DECISIONS.map((one) => (
        <span key={one} class={`key ${DECISION[one].colour}`}>
          {DECISION[one].words} {count(props.was[one])}
          {props.was[one] === props.becomes[one] ? "" : ` → ${count(props.becomes[one])}`}
        </span>
      ))}
    </div>
  </>
);

const turned = (was: Decision, becomes: Decision): string =>
  `${DECISION[was].words} → ${DECISION[becomes].words}`;

type Turned = readonly [domain: string, was: Decision, becomes: Decision, times: number];

/** Domains that would have been decided otherwise. */
export const TurnedDomains = ({ domains }: { domains: readonly Turned[] }): VNode => (
  <Lines
    rows={domains.map(([domain, was, becomes, times]) => [
      <span class="mono">{domain}</span>,
      <span class="note">
        {turned(was, becomes)}, {count(times)}
      </span>,
    ])}
  />
);

function sums({ pairs }: ShadowReport, side: "live" | "shadow"): Counts {
  const made: Record<Decision, number> = { accept: 0, challenge: 0, review: 0, reject: 0 };
  for (const pair of pairs) made[pair[side]] += pair.count;
  return made;
}

/** What the shadow would have changed of the account's own sign-ups, before anything else on the page. */
export function Effect({ policy }: { policy: Policy }): VNode {
  const shadow = String(policy.shadow);
  const end = async (): Promise<void> => {
    await call("DELETE", at(policy.name, "/shadow"));
    say(`Version ${shadow} no longer runs in the shadow.`, () =>
      post(at(policy.name, "/shadow"), { version: policy.shadow }),
    );
  };
  return (
    <section class="sheet stack">
      <Shown loading={useLoad<ShadowReport>(at(policy.name, "/shadow?days=30"))} lines={4}>
        {(report) => (
          <>
            <Changed {...report} />
            <div class="bar">
              <MakeLive {...{ policy, report }} />
              <Act act={`Discard ${shadow}`} class="plain" work={end} />
            </div>
          </>
        )}
      </Shown>
    </section>
  );
}

/** Asks when the shadow refused more people, or might. */
function MakeLive({ policy, report }: { policy: Policy; report: ShadowReport }): VNode {
  const version = String(policy.shadow);
  const shadow = useLoad<Policy>(at(policy.name, `?version=${version}`)).value;
  const [was, becomes] = [sums(report, "live").reject, sums(report, "shadow").reject];
  const isUnknown =
    report.total === 0 && (shadow === undefined || mayRefuseMore(policy.document, shadow.document));
  const button = { act: `Make ${version} live`, class: "main" };
  const work = (): Promise<void> => makeLive(policy, () => post(at(policy.name, "/promote")));
  if (becomes <= was && !isUnknown) return <Act {...button} work={work} />;
  return (
    <Ask {...button} title="Refuse more people?" send={work}>
      {report.total === 0
        ? "It has seen no sign-ups yet, and it may refuse people whom the live version lets in."
        : `Of your ${count(report.total)} sign-ups it would have refused ${count(becomes)}, the live version ${count(was)}.`}
    </Ask>
  );
}

function Changed(report: ShadowReport): VNode {
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
        was={sums(report, "live")}
        becomes={sums(report, "shadow")}
      />
      <div class="figures">
        {pairs
          .filter((pair) => pair.live !== pair.shadow)
          .map((pair) => (
            <div key={`${pair.live} ${pair.shadow}`} class="figure">
              <b>{count(pair.count)}</b>
              <span>{turned(pair.live, pair.shadow)}</span>
            </div>
          ))}
      </div>
      {domains.length === 0 ? null : (
        <details>
          <summary>See the domains</summary>
          <TurnedDomains
            domains={domains.map((one) => [one.domain, one.live, one.shadow, one.count])}
          />
        </details>
      )}
    </>
  );
}

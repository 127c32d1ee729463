import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { ApiFault, call, post } from "../lib/client.ts";
import { count } from "../lib/format.ts";
import { useLoad } from "../lib/load.ts";
import type { PolicyPage as Opened, ShadowReport } from "../lib/shapes.ts";
import { announce, say } from "../lib/state.ts";
import { ink, Lines, PageLink, Pairs, Shown } from "../parts/basic.tsx";
import { Split } from "../parts/chart.tsx";
import { Act, Question } from "../parts/form.tsx";
import {
  type Counts,
  type Decision,
  DECISION,
  DECISIONS,
  inRules,
  mayRefuseMore,
  type PolicyDocument,
} from "../words/policy.ts";

export const GateTabs = (): VNode => (
  <nav class="tabs" aria-label="Gate">
    <PageLink href="gate" exact>
      Policy
    </PageLink>
    <PageLink href="gate/decisions">Decisions</PageLink>
    <PageLink href="gate/hooks">Hooks and keys for pages</PageLink>
  </nav>
);

export type Policy = Omit<Opened, "document"> & { readonly document: PolicyDocument };

export const at = (name: string, rest = ""): string =>
  `policies/${encodeURIComponent(name)}${rest}`;

/** Rules in the server's refusals have the number that the page shows. */
export const asked = <Answer,>(work: Promise<Answer>): Promise<Answer> =>
  work.catch((error: unknown) => {
    if (!(error instanceof ApiFault)) throw error;
    throw new ApiFault(error.status, inRules(error.message));
  });

/**
 * Makes a document live, and says how to take it back; asks first when `compare` has a reason: it would or might refuse
 * more people.
 */
export function MakeLive(props: {
  policy: Policy;
  act: string;
  disabled?: boolean;
  compare: () => Promise<string>;
  work: () => Promise<{ readonly version: number }>;
}): VNode {
  const { act, disabled = false, compare, work } = props;
  const { name, document } = props.policy;
  const [question, setQuestion] = useState("");
  const makeLive = async (): Promise<void> => {
    const { version } = await asked(work());
    say(`Version ${String(version)} is live.`, async () => {
      await post(at(name), { document });
      announce("The rules before are live again, as a new version.");
    });
  };
  const press = async (): Promise<void> => {
    const reason = await compare();
    if (reason === "") await makeLive();
    else setQuestion(reason);
  };
  const close = (): void => setQuestion("");
  return (
    <>
      <Act {...{ act, disabled }} class="main" work={press} />
      {question === "" ? null : (
        <Question title="Refuse more people?" act={act} send={makeLive} onClose={close}>
          {question}
        </Question>
      )}
    </>
  );
}

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
        <span key={one} class="key" style={ink(DECISION[one].colour)}>
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
  const compare = async (report: ShadowReport): Promise<string> => {
    if (report.total === 0) {
      const { document } = await call<Policy>("GET", at(policy.name, `?version=${shadow}`));
      return mayRefuseMore(policy.document, document)
        ? "It has seen no sign-ups yet, and it may refuse people whom the live version lets in."
        : "";
    }
    const [was, becomes] = [sums(report, "live").reject, sums(report, "shadow").reject];
    return becomes > was
      ? `Of your ${count(report.total)} sign-ups it would have refused ${count(becomes)}, the live version ${count(was)}.`
      : "";
  };
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
              <MakeLive
                policy={policy}
                act={`Make ${shadow} live`}
                compare={() => compare(report)}
                work={() => post(at(policy.name, "/promote"))}
              />
              <Act act={`Discard ${shadow}`} class="plain" work={end} />
            </div>
          </>
        )}
      </Shown>
    </section>
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
      <Pairs
        cells
        rows={pairs
          .filter((pair) => pair.live !== pair.shadow)
          .map((pair) => [turned(pair.live, pair.shadow), count(pair.count)])}
      />
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

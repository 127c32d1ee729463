import type { VNode } from "preact";
import type { PolicyPage as Opened, ShadowReport } from "../../http/account/shapes.ts";
import { ApiFault, call, post, remove } from "../lib/client.ts";
import { count } from "../lib/format.ts";
import { useLoad } from "../lib/load.ts";
import { say } from "../lib/state.ts";
import { ink, Lines, More, PageLink, Pairs, Shown } from "../parts/basic.tsx";
import { Split } from "../parts/chart.tsx";
import { Act } from "../parts/form.tsx";
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
  <nav class="bar tabs" aria-label="Gate">
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

/** A change or test of a policy: rules in the server's refusals have the number that the page shows. */
export const order = <Answer,>(name: string, rest: string, body: object = {}): Promise<Answer> =>
  post<Answer>(at(name, rest), body).catch((error: unknown) => {
    if (!(error instanceof ApiFault)) throw error;
    throw new ApiFault(error.status, inRules(error.message));
  });

interface LiveProps {
  policy: Policy;
  act: string;
  disabled?: boolean;
  /** Why it might refuse more people; "" when it does not. */
  reason: () => Promise<string>;
  send: () => Promise<{ readonly version: number }>;
}

/** Makes a document live, and says how to take it back; it asks first when it has a reason. */
export function MakeLive({ policy, send, ...more }: LiveProps): VNode {
  const { name, document } = policy;
  const makeLive = async (): Promise<void> => {
    const { version } = await send();
    say(`Version ${String(version)} is live.`, () => post(at(name), { document }));
  };
  return <Act {...more} class="main" title="Refuse more people?" send={makeLive} />;
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
    <div class="bar keys">
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
      <span class="note">{`${turned(was, becomes)}, ${count(times)}`}</span>,
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
  const { name } = policy;
  const shadow = String(policy.shadow);
  const reason = async (report: ShadowReport): Promise<string> => {
    if (report.total === 0) {
      const { document } = await call<Policy>("GET", at(name, `?version=${shadow}`));
      return mayRefuseMore(policy.document, document)
        ? "It has seen no sign-ups yet, and it may refuse people whom the live version lets in."
        : "";
    }
    const [was, becomes] = [sums(report, "live").reject, sums(report, "shadow").reject];
    return becomes > was
      ? `Of your ${count(report.total)} sign-ups it would have refused ${count(becomes)}, the live version ${count(was)}.`
      : "";
  };
  return (
    <section class="sheet stack">
      <Shown loading={useLoad<ShadowReport>(at(name, "/shadow?days=30"))} lines={4}>
        {(report) => (
          <>
            <Changed {...report} />
            <div class="bar">
              <MakeLive
                {...{ policy, act: `Make ${shadow} live` }}
                reason={() => reason(report)}
                send={() => order(name, "/promote")}
              />
              <Act
                {...{ act: `Discard ${shadow}`, class: "plain" }}
                send={() => remove(at(name, "/shadow"))}
                said={`Version ${shadow} no longer runs in the shadow.`}
                undo={() => post(at(name, "/shadow"), { version: policy.shadow })}
              />
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
        <More summary="See the domains">
          <TurnedDomains
            domains={domains.map((one) => [one.domain, one.live, one.shadow, one.count])}
          />
        </More>
      )}
    </>
  );
}

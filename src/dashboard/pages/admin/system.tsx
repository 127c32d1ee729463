import type { VNode } from "preact";
import type { AuditEntry, SystemState } from "../../api/shapes.ts";
import { useLoad } from "../../app/load.ts";
import { AuditTable } from "../../parts/audit-table.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { Empty, Shown } from "../../parts/states.tsx";
import { Time } from "../../parts/time.tsx";

export function AdminSystemPage(): VNode {
  const loading = useLoad<SystemState>("admin/system");
  return (
    <>
      <PageHead title="System" lead="What this process depends on, as it is right now.">
        <button type="button" onClick={loading.reload}>
          Look again
        </button>
      </PageHead>
      <Shown loading={loading} lines={6}>
        {(state) => <State state={state} />}
      </Shown>
      <Audit />
    </>
  );
}

const PROBES: Readonly<Record<string, string>> = {
  database: "Database",
  dns: "DNS",
  redis: "Redis",
};

function State({ state }: { state: SystemState }): VNode {
  return (
    <>
      {state.warnings.map((warning) => (
        <p key={warning} class="notice no" role="alert">
          {warning}
        </p>
      ))}
      <Health state={state} />
    </>
  );
}

function Health({ state }: { state: SystemState }): VNode {
  return (
    <div class="two even">
      <section class="sheet">
        <h2>Health</h2>
        <ul class="rows">
          {state.probes.map(({ name, ok }) => (
            <li key={name}>
              <div class="bar">
                <span>{PROBES[name] ?? name}</span>
                <span class="push" />
                <span class={ok ? "chip yes" : "chip no"}>
                  {ok ? "Answers" : "Does not answer"}
                </span>
              </div>
            </li>
          ))}
        </ul>
      </section>
      <section class="sheet">
        <h2>This process</h2>
        <dl class="pairs">
          <dt>Version</dt>
          <dd>{state.version}</dd>
          <dt>Node</dt>
          <dd>{state.node}</dd>
          <dt>Started</dt>
          <dd>
            <Time at={state.started_at} />
          </dd>
          {state.facts.map(({ name, value }) => (
            <Fact key={name} name={name} value={value} />
          ))}
        </dl>
      </section>
    </div>
  );
}

function Fact({ name, value }: { name: string; value: string }): VNode {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  );
}

function Audit(): VNode {
  const loading = useLoad<{ readonly entries: readonly AuditEntry[] }>("admin/audit");
  return (
    <section class="sheet stack">
      <h2>Who changed what</h2>
      <Shown loading={loading} lines={4}>
        {({ entries }) =>
          entries.length === 0 ? (
            <Empty title="Nothing was changed yet">
              <p>Every change is kept here for 400 days: who, what, when and from where.</p>
            </Empty>
          ) : (
            <AuditTable entries={entries} whose />
          )
        }
      </Shown>
    </section>
  );
}

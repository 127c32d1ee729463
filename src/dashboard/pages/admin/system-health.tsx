import type { VNode } from "preact";
import type { SystemState } from "../../api/shapes.ts";
import { nowMs, timeMs } from "../../app/clock.ts";
import { said, t, tx } from "../../app/i18n.ts";
import { Mark } from "../../parts/mark.tsx";
import { Time } from "../../parts/time.tsx";

const PROBES: Readonly<Record<string, string>> = {
  database: "Database",
  dns: "DNS",
  redis: "Redis",
};

/** What this server needs, and whether it answers. */
export function Health({ state }: { state: SystemState }): VNode {
  return (
    <section class="sheet stack close">
      <h2>{t("This server")}</h2>
      <ul class="lines">
        {state.probes.map(({ name, ok }) => (
          <li key={name}>
            <span class="grow">{t(PROBES[name] ?? name)}</span>
            <Mark mark={ok ? "yes" : "no"} words={ok ? t("Answers") : t("Does not answer")} />
          </li>
        ))}
      </ul>
      <dl class="pairs">
        <dt>{t("Version")}</dt>
        <dd>{t("{version}, Node {node}", { version: state.version, node: state.node })}</dd>
        <dt>{t("Started")}</dt>
        <dd>
          <Time at={state.started_at} />
        </dd>
        {state.last_backup === undefined ? null : (
          <>
            <dt>{t("Last backup")}</dt>
            <dd>
              <BackUpAge at={state.last_backup} />
            </dd>
          </>
        )}
        {state.facts.map(({ name, value }) => (
          <Fact key={name} name={said(name)} value={said(value)} />
        ))}
      </dl>
    </section>
  );
}

const BACK_UP_OLD_MS = 7 * 86_400_000;

function BackUpAge({ at }: { at: string | null }): VNode {
  if (at === null)
    return <>{tx("none known; run {command}", { command: <code>gatepost backup</code> })}</>;
  const isOld = nowMs() - timeMs(at) > BACK_UP_OLD_MS;
  return (
    <>
      <Time at={at} /> {isOld ? <Mark mark="unsure" words={t("Getting old")} /> : null}
    </>
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

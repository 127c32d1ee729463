import type { ComponentChildren, VNode } from "preact";
import type { SystemState } from "../../api/shapes.ts";
import { nowMs, timeMs } from "../../app/clock.ts";
import { t, tx } from "../../app/i18n.ts";
import { Mark } from "../../parts/mark.tsx";
import { Time } from "../../parts/time.tsx";

const PROBES: Readonly<Record<string, string>> = {
  database: "Database",
  dns: "DNS",
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
        <Fact name={t("Version")}>
          {t("{version}, Node {node}", { version: state.version, node: state.node })}
        </Fact>
        <Fact name={t("Started")}>
          <Time at={state.started_at} />
        </Fact>
        {state.last_backup === undefined ? null : (
          <Fact name={t("Last backup")}>
            <BackUpAge at={state.last_backup} />
          </Fact>
        )}
        {state.facts.map(({ name, value }) => (
          <Fact key={name} name={name}>
            {value}
          </Fact>
        ))}
      </ul>
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

function Fact({ name, children }: { name: string; children: ComponentChildren }): VNode {
  return (
    <li class="fact">
      <span>{name}</span>
      <span class="push">{children}</span>
    </li>
  );
}

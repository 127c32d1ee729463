import type { VNode } from "preact";
import type { AuditEntry, Cockpit, Source, SystemState } from "../../api/shapes.ts";
import { nowMs, timeMs } from "../../app/clock.ts";
import { t } from "../../app/i18n.ts";
import { useLoad } from "../../app/load.ts";
import { count, counted, duration } from "../../app/numbers.ts";
import { AuditTable } from "../../parts/audit-table.tsx";
import { Mark } from "../../parts/mark.tsx";
import { Meter } from "../../parts/meter.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { Empty, Shown } from "../../parts/states.tsx";
import { HeldBack, Verdicts } from "./cockpit-parts.tsx";
import { Health } from "./system-health.tsx";
import { UsageFigures } from "./usage-figures.tsx";
import { quantile } from "../../words/latency.ts";
import { refusalWords } from "../../words/rules.ts";

const DAYS = 14;

/** How the service does, for those who run it: what is not green says why and what to press. */
export function AdminSystemPage(): VNode {
  const system = useLoad<SystemState>("admin/system");
  const cockpit = useLoad<Cockpit>(`admin/cockpit?days=${String(DAYS)}`);
  return (
    <>
      <PageHead
        title={t("Cockpit")}
        lead={t("The last {n} days on this server, all accounts together.", { n: DAYS })}
      >
        <button
          type="button"
          onClick={() => {
            system.reload();
            cockpit.reload();
          }}
        >
          {t("Update")}
        </button>
      </PageHead>
      <Shown loading={system} lines={1}>
        {({ warnings }) => <Warnings warnings={warnings} />}
      </Shown>
      <Shown loading={cockpit} lines={6}>
        {(known) => <Traffic cockpit={known} />}
      </Shown>
      <div class="two start">
        <div class="stack wide">
          <Feeds />
          <Shown loading={cockpit} lines={4}>
            {({ top }) => <Top top={top} />}
          </Shown>
        </div>
        <div class="stack wide">
          <Shown loading={system} lines={6}>
            {(state) => <Health state={state} />}
          </Shown>
          <Shown loading={cockpit} lines={4}>
            {({ held_back: heldBack }) => <HeldBack rows={heldBack} />}
          </Shown>
        </div>
      </div>
      <Audit />
    </>
  );
}

function Warnings({ warnings }: { warnings: readonly string[] }): VNode {
  return (
    <>
      {warnings.map((warning) => (
        <p key={warning} class="notice no" role="alert">
          {warning}
        </p>
      ))}
    </>
  );
}

function Traffic({ cockpit }: { cockpit: Cockpit }): VNode {
  const { days, latency_edges_ms: edges } = cockpit;
  const sum = (pick: (day: Cockpit["days"][number]) => number): number =>
    days.reduce((total, day) => total + pick(day), 0);
  const checks = sum(({ units, credits }) => units + credits);
  const refused = sum(({ refusals }) => refusals);
  const latency = days.map((day) => day.latency);
  const [median, slow] = [quantile(latency, edges, 0.5), quantile(latency, edges, 0.95)];
  const figures = [
    [t("checks"), count(checks)],
    [t("requests"), count(sum(({ requests }) => requests))],
    [t("refused requests"), count(refused)],
    [t("half of the answers within"), median === undefined ? "–" : duration(median)],
    [t("95 of 100 within"), slow === undefined ? "–" : duration(slow)],
  ] as const;
  return (
    <>
      <UsageFigures figures={figures} days={days} />
      <Verdicts verdicts={cockpit.verdicts} />
    </>
  );
}

const OLD_MS = 48 * 3_600_000;

function lightOf({
  names,
  refused,
  from,
  asked_at: at,
  off,
}: Source): readonly ["yes" | "unsure" | "no" | "quiet", string] {
  if (off) return ["quiet", t("Off")];
  if (names === 0) return ["no", t("Not in use")];
  if (refused !== null) return ["unsure", t("Not updated")];
  if (from === "package") return ["quiet", t("Came with the program")];
  return at !== null && nowMs() - timeMs(at) > OLD_MS
    ? ["unsure", t("Getting old")]
    : ["yes", t("Fresh")];
}

function Feeds(): VNode {
  const loading = useLoad<{ readonly sources: readonly Source[] }>("admin/lists");
  return (
    <section class="sheet stack close">
      <div class="bar">
        <h2>{t("Public lists")}</h2>
        <a class="push" href="/admin/lists">
          {t("Fetch or change them")}
        </a>
      </div>
      <Shown loading={loading} lines={5}>
        {({ sources }) => (
          <ul class="lines">
            {sources.map((source) => {
              const [mark, words] = lightOf(source);
              return (
                <li key={source.id}>
                  <span class="grow">
                    <code>{source.id}</code>{" "}
                    <span class="note">
                      {counted(source.names, "{n} name", "{n} names")}
                      {source.refused === null
                        ? ""
                        : `. ${refusalWords(source.refused, source.detail)}`}
                    </span>
                  </span>
                  <Mark mark={mark} words={words} />
                </li>
              );
            })}
          </ul>
        )}
      </Shown>
    </section>
  );
}

function Top({ top }: { top: Cockpit["top"] }): VNode {
  const most = top[0]?.units ?? 1;
  return (
    <section class="sheet stack close">
      <div class="bar">
        <h2>{t("Who used most")}</h2>
        <a class="push" href="/admin/accounts">
          {t("All accounts")}
        </a>
      </div>
      {top.length === 0 ? (
        <p class="note">{t("No checks yet.")}</p>
      ) : (
        <ul class="stack close plain-list">
          {top.map(({ name, units }, at) => (
            <li key={at}>
              <div class="bar held">
                <span class="break">{name ?? t("without a key")}</span>
                <span class="push">{count(units)}</span>
              </div>
              <Meter share={units / Math.max(1, most)} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Audit(): VNode {
  const loading = useLoad<{ readonly entries: readonly AuditEntry[] }>("admin/audit");
  return (
    <section class="sheet stack">
      <h2>{t("Who changed what")}</h2>
      <Shown loading={loading} lines={4}>
        {({ entries }) =>
          entries.length === 0 ? (
            <Empty title={t("Nothing was changed yet")}>
              <p>{t("Every change is kept here for 400 days: who, what, when and from where.")}</p>
            </Empty>
          ) : (
            <AuditTable entries={entries} whose />
          )
        }
      </Shown>
    </section>
  );
}

import type { VNode } from "preact";
import { bytes, count, counted, nowMs, percent, timeMs } from "../lib/format.ts";
import { useLoad } from "../lib/load.ts";
import type { AuditEntry, Cockpit, Source, SystemState } from "../lib/shapes.ts";
import {
  Cells,
  Lines,
  Mark,
  type MarkKind,
  Meter,
  PageHead,
  Sheet,
  Shown,
  Time,
} from "../parts/basic.tsx";
import { Proposals } from "./decisions.tsx";
import { DnsTest } from "./dns-test.tsx";
import { refusalWords } from "./rules.tsx";
import { AuditTable } from "./settings.tsx";
import { quantile, Requests } from "./usage.tsx";

const DAYS = 14;

/** How the service does, for those who run it: what is not green says why and what to press. */
export function SystemPage(): VNode {
  const system = useLoad<SystemState>("admin/system");
  const cockpit = useLoad<Cockpit>(`admin/cockpit?days=${String(DAYS)}`);
  const update = (): void => {
    system.reload();
    cockpit.reload();
  };
  return (
    <>
      <PageHead
        title="System"
        lead={`The last ${String(DAYS)} days on this server, all accounts together.`}
      >
        <button type="button" onClick={update}>
          Update
        </button>
      </PageHead>
      <Shown loading={system} lines={1}>
        {({ warnings }) =>
          warnings.map((warning) => (
            <p key={warning} class="notice no" role="alert">
              {warning}
            </p>
          ))
        }
      </Shown>
      <Proposals path="admin/proposals" whose="the operator" />
      <Shown loading={cockpit} lines={6}>
        {(known) => <Traffic cockpit={known} />}
      </Shown>
      <div class="two start">
        <div class="stack wide">
          <Feeds />
          <Sheet title="DNS">
            <DnsTest />
          </Sheet>
        </div>
        <div class="stack wide">
          <Shown loading={system} lines={6}>
            {(state) => <Server state={state} />}
          </Shown>
          <Shown loading={cockpit} lines={4}>
            {({ top, held_back: held }) => (
              <>
                <Throttled rows={held} />
                <Top top={top} />
              </>
            )}
          </Shown>
        </div>
      </div>
      <Audit />
    </>
  );
}

function Traffic({ cockpit }: { cockpit: Cockpit }): VNode {
  const { days } = cockpit;
  const sum = (pick: (day: Cockpit["days"][number]) => number): string =>
    count(days.reduce((total, day) => total + pick(day), 0));
  return (
    <>
      <Cells
        rows={[
          ["checks", sum(({ units, credits }) => units + credits)],
          ["requests", sum(({ requests }) => requests)],
          ["refused requests", sum(({ refusals }) => refusals)],
          ["half of the answers", quantile(cockpit, 0.5)],
          ["95 of 100 answers", quantile(cockpit, 0.95)],
        ]}
      />
      <Requests rows={days} />
      <Verdicts verdicts={cockpit.verdicts} />
    </>
  );
}

/** Every checked domain in one class, so that they add up. */
function Verdicts({ verdicts }: { verdicts: Cockpit["verdicts"] }): VNode | null {
  const { good, disposable, no_mail: noMail, no_answer: noAnswer } = verdicts;
  const all = good + disposable + noMail + noAnswer;
  if (all === 0) return null;
  const rows = [
    ["good", "k-yes", good],
    ["disposable", "k-no", disposable],
    ["no mail server", "k-no-2", noMail],
    ["could not tell", "k-quiet", noAnswer],
  ] as const;
  return (
    <Sheet title={`What the verdicts of ${counted(all, "domain check")} were`}>
      <div class="split" aria-hidden="true">
        {rows.map(([name, colour, times]) =>
          times === 0 ? null : (
            <i key={name} class={colour} style={{ flex: `${String(times)} 1 0` }} />
          ),
        )}
      </div>
      <div class="keys">
        {rows.map(([name, colour, times]) => (
          <span key={name} class={`key ${colour}`}>
            {name} <b>{percent(times / all)}</b> {count(times)}
          </span>
        ))}
      </div>
    </Sheet>
  );
}

/** Resources of which somebody wanted more than a share. */
function Throttled({ rows }: { rows: Cockpit["held_back"] }): VNode {
  return (
    <Sheet title="Throttled callers">
      {rows.length === 0 ? (
        <Mark mark="yes" words="No caller has been throttled since the start." />
      ) : (
        <Lines
          rows={rows.map(({ resource, refused, waiting }) => [
            resource.replaceAll("_", " "),
            <span class="note">
              {count(refused)} refused, {count(waiting)} waiting
            </span>,
          ])}
        />
      )}
    </Sheet>
  );
}

const OLD_MS = 48 * 3_600_000;

function lightOf(source: Source): readonly [MarkKind, string] {
  const { names, refused, from, asked_at: at, off } = source;
  if (off) return ["quiet", "Off"];
  if (names === 0) return ["no", "Not in use"];
  if (refused !== null) return ["unsure", "Not updated"];
  if (from === "package") return ["quiet", "Came with the program"];
  const isOld = at !== null && nowMs() - timeMs(at) > OLD_MS;
  return isOld ? ["unsure", "Getting old"] : ["yes", "Fresh"];
}

function Feeds(): VNode {
  const loading = useLoad<{ readonly sources: readonly Source[] }>("admin/lists");
  return (
    <Sheet title="Public lists" aside={<a href="admin/rules">Fetch or change them</a>}>
      <Shown loading={loading} lines={5}>
        {({ sources }) => (
          <Lines
            rows={sources.map((source) => {
              const [mark, words] = lightOf(source);
              const { id, names, refused, detail } = source;
              return [
                <>
                  <code>{id}</code>{" "}
                  <span class="note">
                    {counted(names, "name")}
                    {refused === null ? "" : `. ${refusalWords(refused, detail)}`}
                  </span>
                </>,
                <Mark mark={mark} words={words} />,
              ];
            })}
          />
        )}
      </Shown>
    </Sheet>
  );
}

const BACK_UP_OLD_MS = 7 * 86_400_000;

function BackUp({ at }: { at: string | null }): VNode {
  if (at === null) {
    return (
      <span>
        none known; run <code>gatepost backup</code>
      </span>
    );
  }
  const isOld = nowMs() - timeMs(at) > BACK_UP_OLD_MS;
  return (
    <span>
      <Time at={at} /> {isOld ? <Mark mark="unsure" words="Getting old" /> : null}
    </span>
  );
}

/** What this server needs, whether it answers, and how much room and work it has. */
function Server({ state }: { state: SystemState }): VNode {
  const { probes, disk, queue, last_backup: backUp } = state;
  return (
    <Sheet title="This server">
      <Lines
        rows={[
          ...probes.map(
            ({ name, ok }) =>
              [
                name === "dns" ? "DNS" : name === "database" ? "Database" : name,
                <Mark mark={ok ? "yes" : "no"} words={ok ? "Answers" : "Does not answer"} />,
              ] as const,
          ),
          disk === null
            ? null
            : [
                "Disk",
                <Mark
                  mark={disk.free < 0.05 * disk.size ? "no" : "yes"}
                  words={`${bytes(disk.free)} of ${bytes(disk.size)} free`}
                />,
              ],
          [
            "Lists in the queue",
            `${counted(queue.waiting, "entry", "entries")} of ${counted(queue.lists, "list")}`,
          ],
          backUp === undefined ? null : ["Last back-up", <BackUp at={backUp} />],
          ["Version", `${state.version}, Node ${state.node}`],
          ["Started", <Time at={state.started_at} />],
        ]}
      />
      <details>
        <summary>Details</summary>
        <Lines rows={state.facts.map(({ name, value }) => [name, value])} />
      </details>
    </Sheet>
  );
}

function Top({ top }: { top: Cockpit["top"] }): VNode {
  const most = Math.max(1, top[0]?.units ?? 1);
  return (
    <Sheet title="Who used most" aside={<a href="admin/accounts">All accounts</a>}>
      {top.length === 0 ? (
        <p class="note">No checks yet.</p>
      ) : (
        <ul class="stack close plain-list">
          {top.map(({ name, units }, at) => (
            <li key={at}>
              <div class="bar held">
                <span class="break">{name ?? "without a key"}</span>
                <span class="push">{count(units)}</span>
              </div>
              <Meter share={units / most} />
            </li>
          ))}
        </ul>
      )}
    </Sheet>
  );
}

function Audit(): VNode {
  const loading = useLoad<{ readonly entries: readonly AuditEntry[] }>("admin/audit");
  return (
    <Sheet title="Who changed what">
      <Shown loading={loading} lines={4}>
        {({ entries }) =>
          entries.length === 0 ? (
            <p class="note">
              Every change is kept here for 400 days: who, what, when and from where.
            </p>
          ) : (
            <AuditTable entries={entries} whose />
          )
        }
      </Shown>
    </Sheet>
  );
}

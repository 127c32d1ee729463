import type { VNode } from "preact";
import type { Cockpit, Source, SystemState } from "../../http/account/shapes.ts";
import { bytes, count, counted, nowMs, percent, plural, sumOf, timeMs } from "../lib/format.ts";
import { type Broken, health, stateOf } from "../lib/health.ts";
import { type Loading, useLoad } from "../lib/load.ts";
import { changes } from "../lib/session.ts";
import {
  Lines,
  LinesSheet,
  LoadedSheet,
  Mark,
  More,
  noted,
  PageHead,
  Pairs,
  type NamedValue,
  Sheet,
  Shown,
  Time,
} from "../parts/basic.tsx";
import { Share, SplitWithLegend } from "../parts/chart.tsx";
import { Button } from "../parts/form.tsx";
import type { MarkKind } from "../words/verdict.ts";
import { Proposals, Waves } from "./decisions.tsx";
import { DnsTest } from "./set-up.tsx";
import { refusalWords } from "./rules.tsx";
import { AuditSheet } from "./settings.tsx";
import { quantile, Requests } from "./usage.tsx";

const DAYS = 14;

export function Page(): VNode {
  // What the database said is asked for again when it goes and when it comes back.
  const stamp = `${String(changes.value)} ${String(isBroken("database"))}`;
  const system = useLoad<SystemState>("admin/system", stamp);
  const cockpit = useLoad<Cockpit>(`admin/cockpit?days=${String(DAYS)}`, stamp);
  return (
    <>
      <PageHead
        title="System"
        lead={`The last ${String(DAYS)} days on this server, all accounts together.`}
      >
        <Button act="Update" class="" onClick={() => (changes.value += 1)} />
      </PageHead>
      <Shown loading={health.value} lines={1}>
        {({ broken }) => (broken.length === 0 ? null : troubles(broken))}
      </Shown>
      <Waves path="admin/waves" />
      <Proposals path="admin/proposals" whose="the operator" />
      <Shown loading={known(cockpit)} lines={6}>
        {(values) => <Traffic {...values} />}
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
            {(state) => <Server {...state} />}
          </Shown>
          <Shown loading={known(cockpit)} lines={4}>
            {({ top, held_back: held }) => (
              <>
                <Throttled rows={held} />
                <Top top={top} />
              </>
            )}
          </Shown>
        </div>
      </div>
      <AuditSheet
        title="Who changed what"
        path="admin/audit"
        whose
        none="Every change is kept here for 400 days: who, what, when and from where."
      />
    </>
  );
}

const isBroken = (part: Broken["part"]): boolean => typeof stateOf(part) === "object";

/** The note above says why there is no newer value. */
const known = (loading: Loading<Cockpit>): Loading<Cockpit> =>
  loading.value === undefined || !isBroken("database") ? loading : { ...loading, fault: "" };

/** One note above everything: what is broken, since when and what to do. */
function troubles(broken: readonly Broken[]): VNode {
  const stopped = broken.filter(({ stops }) => stops).length;
  const many = stopped || broken.length;
  const words = stopped > 0 ? plural(many, "is broken", "are broken") : "to look at";
  const kind = `${stopped > 0 ? "no" : "unsure"}${isBroken("database") ? " stale" : ""}`;
  return (
    <section class={`notice stack close ${kind}`}>
      <h2>
        {counted(many, "part")} of this server {words}
      </h2>
      <ul class="lines">
        {broken.map(({ part, says, since, to_do: toDo }) => (
          <li key={part}>
            <span class="grow">
              <b>{says}</b> Since <Time at={since} />. {toDo}
            </span>
          </li>
        ))}
      </ul>
      {isBroken("database") ? <p>What is grey below is from before.</p> : null}
    </section>
  );
}

function Traffic(cockpit: Cockpit): VNode {
  const { days } = cockpit;
  return (
    <>
      <Pairs
        cells
        rows={[
          ["checks", count(sumOf(days, ({ units, credits }) => units + credits))],
          ["requests", count(sumOf(days, ({ requests }) => requests))],
          ["refused requests", count(sumOf(days, ({ refusals }) => refusals))],
          ["half of the answers", quantile(cockpit, 0.5)],
          ["95 of 100 answers", quantile(cockpit, 0.95)],
        ]}
      />
      <Requests rows={days} />
      <Verdicts {...cockpit.verdicts} />
    </>
  );
}

/** Every checked domain in one class, so that they add up. */
function Verdicts(verdicts: Cockpit["verdicts"]): VNode | null {
  const { good, disposable, no_mail: noMail, no_answer: noAnswer } = verdicts;
  const all = good + disposable + noMail + noAnswer;
  if (all === 0) return null;
  return (
    <Sheet title={`What the verdicts of ${counted(all, "domain check")} were`}>
      <SplitWithLegend
        share={(times) => percent(times / all)}
        parts={[
          ["good", "yes-fill", good],
          ["disposable", "no-fill", disposable],
          ["no mail server", "no-2", noMail],
          ["could not tell", "quiet", noAnswer],
        ]}
      />
    </Sheet>
  );
}

const Throttled = ({ rows }: { rows: Cockpit["held_back"] }): VNode => (
  <LinesSheet
    title="Throttled callers"
    none="No caller has been throttled since the start."
    rows={rows.map(({ resource, refused, waiting }) => [
      resource.replaceAll("_", " "),
      <span class="note">{`${count(refused)} refused, ${count(waiting)} waiting`}</span>,
    ])}
  />
);

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

const Feeds = (): VNode => (
  <LoadedSheet
    title="Public lists"
    aside={<a href="admin/rules">Fetch or change them</a>}
    loading={useLoad<{ readonly sources: readonly Source[] }>("admin/lists")}
    lines={5}
  >
    {({ sources }) => (
      <Lines
        rows={sources.map((source) => {
          const [mark, words] = lightOf(source);
          const names = counted(source.names, "name");
          return [
            noted(<code>{source.id}</code>, names, ". ", refusalWords(source)),
            <Mark mark={mark} words={words} />,
          ];
        })}
      />
    )}
  </LoadedSheet>
);

const BACK_UP_OLD_MS = 7 * 86_400_000;

const backUpWords = (at: string | null): VNode => (
  <span>
    <Time at={at} never="none known; run gatepost backup" />{" "}
    {at !== null && nowMs() - timeMs(at) > BACK_UP_OLD_MS ? (
      <Mark mark="unsure" words="Getting old" />
    ) : null}
  </span>
);

/** A light of a part; `well` is said only of what was looked at and works. */
function light(part: Broken["part"], well: string): VNode {
  const state = stateOf(part);
  // The database has said so, which is away.
  const isOld = state === "well" && (part === "workers" || part === "duties");
  if (state === "unknown" || (isOld && isBroken("database")))
    return <Mark mark="quiet" words="Not known" />;
  if (state === "absent") return <Mark mark="quiet" words="Not watched" />;
  if (state === "well") return <Mark mark="yes" words={well} />;
  return state.stops ? (
    <Mark mark="no" words="Broken" />
  ) : (
    <Mark mark="unsure" words="Look at it" />
  );
}

function Server({ disk, queue, facts, ...state }: SystemState): VNode {
  const backUp = state.last_backup;
  const scaled: readonly NamedValue[] = [
    ["Workers", light("workers", "At work")],
    ["Duties", light("duties", "At work")],
  ];
  return (
    <section class="sheet stack live">
      <h2>This server</h2>
      <Lines
        rows={[
          ["Database", light("database", "Answers")],
          ["DNS", light("dns", "Answers")],
          ...(disk === null
            ? scaled
            : [
                [
                  "Disk",
                  light("disk", `${bytes(disk.free)} of ${bytes(disk.size)} free`),
                ] as NamedValue,
              ]),
          [
            "Lists in the queue",
            queue === null
              ? "not known"
              : `${counted(queue.waiting, "entry", "entries")} of ${counted(queue.lists, "list")}`,
          ],
          ...(backUp === undefined ? [] : [["Last back-up", backUpWords(backUp)] as NamedValue]),
          ["Version", `${state.version}, Node ${state.node}`],
          ["Started", <Time at={state.started_at} />],
        ]}
      />
      <More summary="Details">
        <Lines rows={facts.map(({ name, value }) => [name, value])} />
      </More>
    </section>
  );
}

const Top = ({ top }: { top: Cockpit["top"] }): VNode => (
  <LinesSheet
    title="Who used most"
    aside={<a href="admin/accounts">All accounts</a>}
    none="No checks yet."
    rows={top.map(({ name, units }) => [
      name ?? "without a key",
      <Share share={units / Math.max(1, top[0]?.units ?? 1)} words={count(units)} />,
    ])}
  />
);

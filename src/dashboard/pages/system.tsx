import type { VNode } from "preact";
import type { Cockpit, Source, SystemState } from "../../http/account/shapes.ts";
import { bytes, count, counted, nowMs, plural, timeMs } from "../lib/format.ts";
import { type Broken, health, stateOf } from "../lib/health.ts";
import { type Loading, useLoad } from "../lib/load.ts";
import { changes } from "../lib/session.ts";
import { Button } from "../parts/button.tsx";
import { ShareBar } from "../parts/chart.tsx";
import { breakable, Mark, noted, Time } from "../parts/marks.tsx";
import { LoadedSheet, PageHead, Sheet, Shown } from "../parts/page.tsx";
import { Lines, LinesSheet, More, type NamedValue, Pairs } from "../parts/rows.tsx";
import type { MarkWords } from "../words/verdict.ts";
import { DnsTest } from "./set-up.tsx";
import { refusalWords } from "./rules.tsx";
import { AuditSheet } from "./settings.tsx";
import { requestSheet, usedIn } from "./usage.tsx";

const DAYS = 14;

export function Page(): VNode {
  // What the database said is asked for again when it goes and when it comes back.
  const stamp = `${String(changes.value)} ${String(isBroken("database"))}`;
  const system = useLoad<SystemState>("admin/system", stamp);
  const cockpit = known(useLoad<Cockpit>(`admin/cockpit?days=${String(DAYS)}`, stamp));
  return (
    <>
      <PageHead
        title="System"
        lead={`The last ${String(DAYS)} days on this server, all accounts together.`}
      >
        <Button act="Update" class="" onClick={() => (changes.value += 1)} />
      </PageHead>
      <Shown loading={health.value} lines={1}>
        {({ broken }) => broken.length > 0 && troubles(broken)}
      </Shown>
      <Shown loading={cockpit} lines={6}>
        {traffic}
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
            {server}
          </Shown>
          <Shown loading={cockpit} lines={4}>
            {callers}
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
      <Lines
        rows={broken.map(({ says, since, to_do: toDo }) => [
          [<b>{says}</b>, " Since ", <Time at={since} />, `. ${toDo}`],
          null,
        ])}
      />
      {isBroken("database") && <p>What is grey below is from before.</p>}
    </section>
  );
}

const traffic = (cockpit: Cockpit): VNode => (
  <>
    <Pairs cells rows={[...usedIn(cockpit.days)]} />
    {requestSheet(cockpit.days)}
  </>
);

const callers = ({ top }: Cockpit): VNode => (
  <LinesSheet
    title="Who used most"
    aside={<a href="admin/accounts">All accounts</a>}
    none="No checks yet."
    rows={top.map(({ name, units }) => [
      breakable(name ?? "without a key"),
      <ShareBar share={units / Math.max(1, top[0]?.units ?? 1)} words={count(units)} />,
    ])}
  />
);

const DAY_MS = 86_400_000;

const isOlder = (at: string | null, days: number): boolean =>
  at !== null && nowMs() - timeMs(at) > days * DAY_MS;

const NOT_FETCHED =
  "Never fetched: fetching is off (GATEPOST_LISTS_REFRESH) or has no way out. “Fetch them now” on the page Rules asks once.";

function lightOf({ names, refused, from, asked_at: at, off }: Source): MarkWords {
  if (off) return { mark: "quiet", words: "Off" };
  if (names === 0) {
    return at === null
      ? { mark: "quiet", words: "Not fetched" }
      : { mark: "no", words: "Not in use" };
  }
  if (refused !== null) return { mark: "unsure", words: "Not updated" };
  if (from === "package") return { mark: "quiet", words: "Came with the program" };
  return isOlder(at, 2)
    ? { mark: "unsure", words: "Getting old" }
    : { mark: "yes", words: "Fresh" };
}

const Feeds = (): VNode => (
  <LoadedSheet
    {...{ title: "Public lists", path: "admin/lists", lines: 5 }}
    aside={<a href="admin/rules">Fetch or change them</a>}
  >
    {({ sources }: { readonly sources: readonly Source[] }) => (
      <div class="stack">
        {[...new Set(sources.map((source) => lightOf(source).words))].map((words) =>
          alikeLists(
            words,
            sources.filter((source) => lightOf(source).words === words),
          ),
        )}
      </div>
    )}
  </LoadedSheet>
);

function alikeLists(words: string, alike: readonly Source[]): VNode {
  const [first] = alike;
  const rows = alike.map((source): NamedValue => [
    noted(<code>{source.id}</code>, `${counted(source.names, "name")}. ${refusalWords(source)}`),
    null,
  ]);
  return (
    <div key={words} class="stack close">
      {first && (
        <Mark
          {...lightOf(first)}
          words={`${counted(alike.length, "list")}: ${words.toLowerCase()}`}
        />
      )}
      {words === "Not fetched" && <span class="note">{NOT_FETCHED}</span>}
      {alike.length < 3 ? (
        <Lines rows={rows} />
      ) : (
        <More summary="Which ones">
          <Lines rows={rows} />
        </More>
      )}
    </div>
  );
}

/** A light of a part; `well` is said only of what was looked at and works. */
function light(part: Broken["part"], well: string): VNode {
  const state = stateOf(part);
  // The database has said so, which is away.
  const isOld = state === "well" && (part === "workers" || part === "duties");
  if (state === "unknown" || (isOld && isBroken("database")))
    return <Mark mark="quiet" words="Not known" />;
  if (state === "absent") return <Mark mark="quiet" words="Not watched" />;
  if (state === "well") return <Mark mark="yes" words={well} />;
  return (
    <Mark mark={state.stops ? "no" : "unsure"} words={state.stops ? "Broken" : "Look at it"} />
  );
}

const server = ({ disk, queue, last_backup: backUp, ...state }: SystemState): VNode => (
  <section class="sheet stack live">
    <h2>This server</h2>
    <Lines
      rows={[
        ["Database", light("database", "Answers")],
        ["DNS", light("dns", "Answers")],
        disk === null && ["Workers", light("workers", "At work")],
        disk === null && ["Duties", light("duties", "At work")],
        disk !== null && ["Disk", light("disk", `${bytes(disk.free)} of ${bytes(disk.size)} free`)],
        [
          "Lists in the queue",
          queue === null
            ? "not known"
            : `${counted(queue.waiting, "entry", "entries")} of ${counted(queue.lists, "list")}`,
        ],
        backUp !== undefined && [
          "Last back-up",
          <span>
            <Time at={backUp} never="none known; run gatepost backup" />{" "}
            {isOlder(backUp, 7) && <Mark mark="unsure" words="Getting old" />}
          </span>,
        ],
        ["Version", `${state.version}, Node ${state.node}`],
        ["Started", <Time at={state.started_at} />],
      ]}
    />
    <More summary="Details">
      <Lines rows={state.facts.map(({ name, value }) => [name, value])} />
    </More>
  </section>
);

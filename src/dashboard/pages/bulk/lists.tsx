import type { VNode } from "preact";
import { useEffect, useLayoutEffect } from "preact/hooks";
import { announce } from "../../app/announce.ts";
import { forget, giveUp, listRun, type ListRun, resume } from "../../app/list-run.ts";
import { nowMs } from "../../app/clock.ts";
import { useAction } from "../../app/load.ts";
import { count, counted } from "../../app/numbers.ts";
import { signIns } from "../../app/session.ts";
import { Meter } from "../../parts/meter.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { Bones, Failed, Fault } from "../../parts/states.tsx";
import { ListChosen } from "./list-chosen.tsx";
import { ListPick } from "./list-pick.tsx";
import { ListResults } from "./list-results.tsx";

/** From a file or a paste to the checked list. */
export function ListsPage(): VNode {
  useEffect(() => void resume(), [signIns.value]);
  const run = listRun.value;
  switch (run.step) {
    case "none":
      return <ListPick />;
    case "resuming":
      return <Resuming name={run.name} />;
    case "away":
      return <Away run={run} />;
    case "chosen":
      return <ListChosen key={run.name} name={run.name} table={run.table} />;
    case "running":
      return <Running run={run} />;
    case "done":
      return <ListResults key={run.session} run={run} />;
    case "failed":
      return <FailedList run={run} />;
  }
}

function Resuming({ name }: { name: string }): VNode {
  return (
    <>
      <PageHead title={name} />
      <section class="sheet">
        <Bones lines={4} />
      </section>
    </>
  );
}

/** The list goes on where nobody can see it; it is looked for again as soon as the browser is back on its network. */
function Away({ run }: { run: ListRun & { step: "away" } }): VNode {
  useLayoutEffect(() => {
    const look = (): void => void resume();
    addEventListener("online", look);
    return () => removeEventListener("online", look);
  }, []);
  return (
    <>
      <PageHead
        title={run.name}
        lead="The list goes on at the server. Its results stay there for 15 minutes after it is done."
      >
        <button type="button" class="plain" onClick={giveUp}>
          Give it up
        </button>
      </PageHead>
      <Failed message={run.message} retry={() => void resume()} />
    </>
  );
}

function FailedList({ run }: { run: ListRun & { step: "failed" } }): VNode {
  return (
    <>
      <PageHead title={run.name} />
      <div class="notice no" role="alert">
        <span>{run.message}</span>
        <button type="button" class="small" onClick={() => (listRun.value = { step: "none" })}>
          Begin anew
        </button>
      </div>
    </>
  );
}

type RunningRun = ListRun & { step: "running" };

/** "about 6 s left"; nothing until there is something to reckon with. */
function timeLeft({ state, since }: RunningRun): string {
  const processed = state.processed_count ?? 0;
  const done = processed - since.processed;
  const left = (state.email_count ?? 0) - processed;
  if (done <= 0 || left <= 0) return "";
  const seconds = Math.ceil((((nowMs() - since.ms) / done) * left) / 1_000);
  return seconds > 90
    ? `, about ${String(Math.ceil(seconds / 60))} min left`
    : `, about ${String(seconds)} s left`;
}

function Running({ run }: { run: RunningRun }): VNode {
  const { email_count: all = 0, processed_count: processed = 0, session } = run.state;
  const { busy, fault, run: act } = useAction();
  const quarters = all === 0 ? 0 : Math.floor((processed / all) * 4);
  // A screen reader hears of every quarter; each second would be too much.
  useEffect(() => {
    if (quarters > 0 && quarters < 4) announce(`${String(quarters * 25)} % checked.`);
  }, [quarters]);
  return (
    <>
      <PageHead
        title={run.name}
        lead={`${counted(all, "{n} different entry", "{n} different entries")}. You may look at other pages meanwhile.`}
      />
      <section class="sheet stack">
        <div class="bar">
          <h2>{run.state.status === "pending" ? "Waiting for its turn" : "Checking"}</h2>
          <span class="push" />
          <span class="note">
            {count(processed)} of {count(all)}
            {timeLeft(run)}
          </span>
          <button type="button" disabled={busy} onClick={() => act(() => forget(session))}>
            Cancel
          </button>
        </div>
        <Meter big share={all === 0 ? 0 : processed / all} />
        <Fault text={fault} />
        <p class="note">What has not begun when you cancel is not charged.</p>
      </section>
    </>
  );
}

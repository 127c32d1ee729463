import type { VNode } from "preact";
import { useEffect, useLayoutEffect } from "preact/hooks";
import { announce } from "../../app/announce.ts";
import { t } from "../../app/i18n.ts";
import { forget, giveUp, listRun, type ListRun, resume } from "../../lists/list-run.ts";
import { useAction } from "../../app/load.ts";
import { notice } from "../../app/notice.ts";
import { signIns } from "../../app/session.ts";
import { PageHead } from "../../parts/page-head.tsx";
import { Bones, Failed, Fault } from "../../parts/states.tsx";
import { ListChosen } from "./list-chosen.tsx";
import { ListPick } from "./list-pick.tsx";
import { ListResults } from "./list-results.tsx";
import { Progress } from "./list-progress.tsx";
import { Shelf } from "./shelf.tsx";

/** From a file or a paste to the checked list, and the shelf of recent lists below. */
export function ListsPage(): VNode {
  useEffect(() => void resume(), [signIns.value]);
  useEffect(() => {
    notice.value = undefined;
  }, [listRun.value.step]);
  return (
    <>
      <Step />
      <Shelf key={listRun.value.step} />
    </>
  );
}

function Step(): VNode {
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
      return <ListResults key={run.sessions[0]} run={run} />;
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

/** The list goes on at the server, out of reach; the page asks again as soon as the browser is back on its network. */
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
        lead={t(
          "The list goes on at the server. Its results stay there for 15 minutes after it is done.",
        )}
      >
        <button type="button" class="plain" onClick={giveUp}>
          {t("Begin another list")}
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
          {t("Begin anew")}
        </button>
      </div>
    </>
  );
}

function Running({ run }: { run: ListRun & { step: "running" } }): VNode {
  const { email_count: all = 0, processed_count: processed = 0 } = run.state;
  const { busy, fault, run: act } = useAction();
  const quarters = all === 0 ? 0 : Math.floor((processed / all) * 4);
  // A screen reader hears of every quarter; each second would be too much.
  useEffect(() => {
    if (quarters > 0 && quarters < 4) announce(t("{n} % checked.", { n: quarters * 25 }));
  }, [quarters]);
  return (
    <>
      <PageHead
        title={run.name}
        lead={t(
          "You can leave this page: the list goes on. What has not begun when you cancel is not charged.",
        )}
      >
        <button type="button" disabled={busy} onClick={() => act(() => forget(run.sessions))}>
          {t("Cancel")}
        </button>
      </PageHead>
      <Fault text={fault} />
      <Progress run={run} />
    </>
  );
}

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { refreshSources } from "../../api/rules.ts";
import { useAction, useLoad } from "../../app/load.ts";
import { count, counted } from "../../app/numbers.ts";
import { Confirm } from "../../parts/dialog.tsx";
import { Empty, Fault, Shown } from "../../parts/states.tsx";
import { Time } from "../../parts/time.tsx";
import { FeedSwitch } from "./feed-switch.tsx";
import { mayBeTaken, outcomeWords, refusalWords, stays } from "../../words/rules.ts";
import { t, tx } from "../../app/i18n.ts";
import type { Outcome, Source } from "../../api/shapes.ts";

/** Every public list: how fresh, how large, and why its last answer was not taken. */
export function Sources(): VNode {
  const loading = useLoad<{ readonly sources: readonly Source[] }>("admin/lists");
  const { busy, fault, run } = useAction();
  const [outcomes, setOutcomes] = useState<readonly Outcome[]>();
  const [asked, setAsked] = useState<Source>();
  const refresh = async (accept: readonly string[]): Promise<void> => {
    setOutcomes(undefined);
    setOutcomes((await refreshSources(accept)).outcomes);
    loading.reload();
  };
  return (
    <section class="sheet stack">
      <div class="bar">
        <h2>{t("Public lists")}</h2>
        <span class="push" />
        <button type="button" disabled={busy} onClick={() => run(() => refresh([]))}>
          {busy ? t("Fetching…") : t("Fetch them now")}
        </button>
      </div>
      <div aria-live="polite">{outcomes === undefined ? null : <Came outcomes={outcomes} />}</div>
      <Fault text={fault} />
      <Shown loading={loading} lines={6}>
        {({ sources }) =>
          sources.length === 0 ? (
            <Empty title={t("No lists")}>
              <p>{t("This version of the program comes without public lists.")}</p>
            </Empty>
          ) : (
            <SourceTable sources={sources} onTake={setAsked} onSwitched={loading.reload} />
          )
        }
      </Shown>
      {asked === undefined ? null : (
        <Take source={asked} work={() => refresh([asked.id])} onClose={() => setAsked(undefined)} />
      )}
    </section>
  );
}

/** Overrules a refusal that only the operator can judge, and says what that lets in. */
function Take(props: { source: Source; work: () => Promise<void>; onClose: () => void }): VNode {
  const { id, refused, detail } = props.source;
  return (
    <Confirm
      title={t("Take “{id}” as it is now?", { id })}
      act={t("Take it")}
      work={props.work}
      onClose={props.onClose}
    >
      <p>{refusalWords(refused ?? "", detail)}</p>
      <p>
        {t(
          "A source that was broken into, or lost a part of its file, looks just like this: names that went are no longer called disposable, names that came are. Look at the source first. Its size and its missing names are not held against it this once; all other rules hold, and every source is asked anew.",
        )}
      </p>
    </Confirm>
  );
}

function Came({ outcomes }: { outcomes: readonly Outcome[] }): VNode {
  const isWhole = outcomes.every(({ kind }) => kind !== "refused");
  return <p class={isWhole ? t("notice yes") : t("notice unsure")}>{outcomeWords(outcomes)}</p>;
}

interface TableProps {
  sources: readonly Source[];
  onTake: (source: Source) => void;
  onSwitched: () => void;
}

function SourceTable({ sources, ...acts }: TableProps): VNode {
  const inUse = sources.reduce((sum, { names, off }) => (off ? sum : sum + names), 0);
  return (
    <>
      <p class="note">
        {t(
          "{names} in use, many of them on several lists. A name counts fully when a curated list holds it; the other lists copy each other and count once. A list that is off counts nowhere within 5 seconds.",
          { names: counted(inUse, "{n} name", "{n} names") },
        )}
      </p>
      <div class="scroll">
        <table class="folds">
          <thead>
            <tr>
              <th scope="col">{t("List")}</th>
              <th scope="col" class="number">
                {t("Names")}
              </th>
              <th scope="col">{t("In use")}</th>
              <th scope="col">{t("Last asked")}</th>
              <th scope="col">
                <span class="unseen">{t("Switch")}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {sources.map((source) => (
              <SourceRow key={source.id} source={source} {...acts} />
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function SourceRow({
  source,
  onTake,
  onSwitched,
}: { source: Source } & Omit<TableProps, "sources">): VNode {
  const { id, curated, names, refused, detail, off } = source;
  return (
    <tr>
      <td>
        <code>{id}</code> {curated ? <span class="chip">{t("Curated")}</span> : null}
        {off ? <span class="chip unsure">{t("Off")}</span> : null}
        {refused === null ? null : (
          <div class="note refusal">
            {refusalWords(refused, detail)} {stays(source)}
          </div>
        )}
        {mayBeTaken(refused) ? (
          <button type="button" class="small" onClick={() => onTake(source)}>
            {t("Take it all the same")}
            <span class="unseen"> {t("for {id}", { id })}</span>
          </button>
        ) : null}
      </td>
      <td class="number" data-label={t("Names")}>
        {count(names)}
      </td>
      <td>
        <Copy source={source} />
      </td>
      <td data-label={t("Asked")}>
        <Time at={source.asked_at} />
      </td>
      <td class="act">
        <FeedSwitch source={source} onDone={onSwitched} />
      </td>
    </tr>
  );
}

function Copy({ source: { from, fetched_at: fetchedAt } }: { source: Source }): VNode {
  if (from === "nowhere") return <span class="chip unsure">{t("Nothing yet")}</span>;
  if (from === "package") return <>{t("Came with the program")}</>;
  return <>{tx("Fetched {time}", { time: <Time at={fetchedAt} /> })}</>;
}

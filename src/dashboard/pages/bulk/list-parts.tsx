import type { VNode } from "preact";
import { count, counted, isoIn, relativeTime, timeMs } from "../../lib/format.ts";
import { useAction } from "../../lib/load.ts";
import type { ListRow, ListState, ReadList } from "../../lib/shapes.ts";
import { Time } from "../../parts/basic.tsx";
import { Act, Ask, Fault, Field } from "../../parts/form.tsx";
import type { PartWords } from "../../words/policy.ts";

export type RowClass = ListRow["class"];

/** What rows come to, in the order in which they are shown. */
export const CLASSES: Readonly<Record<RowClass, PartWords>> = {
  good: { words: "Good", mark: "yes", colour: "yes-fill" },
  fixed: { words: "Fixed, not checked", mark: "unsure", colour: "accent" },
  misspelt: { words: "Misspelt", mark: "unsure", colour: "unsure" },
  disposable: { words: "Disposable", mark: "no", colour: "no-fill" },
  no_mail: { words: "No mail server", mark: "no", colour: "no-2" },
  unsure: { words: "Could not tell", mark: "quiet", colour: "quiet" },
  format: { words: "Bad format", mark: "no", colour: "accent-2" },
  unchecked: { words: "Not checked", mark: "quiet", colour: "line" },
  duplicate: { words: "Repeated", mark: "quiet", colour: "edge" },
  blank: { words: "Empty", mark: "quiet", colour: "edge" },
  unread: { words: "Not read", mark: "unsure", colour: "edge" },
};

export const classesIn = ({ counts }: ReadList): readonly RowClass[] =>
  (Object.keys(CLASSES) as RowClass[]).filter((name) => counts[name] > 0);

/** What a check of `entries` costs, and what pays for it: before it is pressed. */
function costWords(entries: number, read: ReadList): string {
  const { plan_left: left, credits, list_limit: most } = read;
  const covered = coveredOf(entries, read);
  const checks = counted(entries, "check");
  const starts = `The plan starts again ${relativeTime(timeMs(read.resets_at))}.`;
  if (covered < entries) {
    const why =
      most !== null && covered === most
        ? `One check of a list has at most ${count(most)} entries in your plan; check the others afterwards.`
        : `The plan has ${counted(left ?? 0, "check")} left${credits > 0 ? `, and you have ${counted(credits, "credit")}` : ""}. ${starts}`;
    return `It would cost ${checks}. ${why}`;
  }
  if (left === null) return `It costs ${checks}; your plan has no limit.`;
  if (entries <= left) return `It costs ${checks} of the ${count(left)} that your plan has left.`;
  return `Your plan has ${counted(left, "check")} left, so ${count(entries)} of your ${counted(credits, "credit")} pay for it.`;
}

/** How many of so many entries plan and credits cover now, in one check. */
const coveredOf = (
  entries: number,
  { plan_left: left, credits, list_limit: most }: ReadList,
): number => Math.min(entries, most ?? Infinity, Math.max(left ?? Infinity, credits));

export interface Known {
  readonly state: ListState;
  /** A change is on its way: what is shown may be over. */
  readonly busy: boolean;
  readonly change: (name: string, body: object) => Promise<void>;
  readonly remove: () => Promise<void>;
}

export const ALL_LISTS = (
  <a class="button plain" href="lists">
    All lists
  </a>
);

/** What every list at rest can do: be left for another, and be deleted. */
export const ListButtons = ({ state, remove }: Pick<Known, "state" | "remove">): VNode => (
  <>
    {ALL_LISTS}
    <Ask act="Delete" class="" title="Delete this list?" yes="Delete it" send={remove}>
      {state.charged > 0
        ? "The file and its results are deleted from the server. To see the results again, the list must be checked, and paid for, again."
        : "The file is deleted from the server. Nothing was charged for it."}
    </Ask>
  </>
);

export const Ends = ({ state }: Pick<Known, "state">): VNode => (
  <>
    Deleted from this server <Time at={isoIn(state.expires_in_seconds ?? 0)} />.
  </>
);

/** Checks what is not checked, or as much of it as plan and credits cover. */
export function CheckButton(props: {
  read: ReadList;
  entries: number;
  busy: boolean;
  change: Known["change"];
  isMain?: true;
  /** Those that DNS gave no answer for. */
  again?: true;
}): VNode {
  const { read, entries, change, isMain, again } = props;
  const covered = coveredOf(entries, read);
  // No more than the button says, whatever another tab chose meanwhile.
  const body = { first: covered, ...(again && { again }) };
  const words =
    covered < entries
      ? `Check the first ${count(covered)}`
      : `Check ${counted(entries, "entry", "entries")}${again ? " again" : ""}`;
  return (
    <div class="bar">
      <Act
        act={words}
        class={isMain ? "main" : "small"}
        disabled={props.busy || covered === 0}
        work={() => change("check", body)}
      />
      <span class="note grow">
        {entries === 0
          ? "Nothing to check: choose another column or sheet."
          : costWords(entries, read)}
      </span>
    </div>
  );
}

export const columnName = (name: string, at: number): string =>
  name.trim() === "" ? `Column ${String(at + 1)}` : name;

export function Choices({ read, change }: { read: ReadList; change: Known["change"] }): VNode {
  const { busy, fault, run } = useAction();
  const { sheet, sheets, columns, column } = read;
  const choose = (body: object): void => run(() => change("read", body));
  return (
    <>
      <fieldset class="choose" disabled={busy}>
        {sheet === null || sheets.length < 2 ? null : (
          <Field
            label="Sheet"
            value={sheet}
            choices={sheets.map((name) => [name, name])}
            onValue={(name) => choose({ sheet: name })}
          />
        )}
        {columns.length < 2 ? null : (
          <Field
            label="Column with the entries"
            value={String(column)}
            choices={columns.map((name, at) => [String(at), columnName(name, at)])}
            onValue={(at) => choose({ ...(sheet !== null && { sheet }), column: Number(at) })}
          />
        )}
      </fieldset>
      <Fault text={fault} />
    </>
  );
}

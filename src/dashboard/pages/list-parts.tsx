import type { VNode } from "preact";
import type { ListRow, ListState, ReadList } from "../../http/account/shapes.ts";
import { count, counted, isoIn, relativeTime, timeMs } from "../lib/format.ts";
import { useAction } from "../lib/load.ts";
import { Go, Time } from "../parts/basic.tsx";
import { Act, Fault, Field } from "../parts/form.tsx";
import type { PartWords } from "../words/policy.ts";

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

/** What a check of `entries` costs, of which `covered` can be checked now: before it is pressed. */
function costWords(entries: number, covered: number, read: ReadList): string {
  const { plan_left: left, credits, list_limit: most } = read;
  const checks = counted(entries, "check");
  if (entries === 0) return "Nothing to check: choose another column or sheet.";
  if (covered < entries && covered === most) {
    return `It would cost ${checks}. One check of a list has at most ${count(most)} entries in your plan; check the others afterwards.`;
  }
  if (covered < entries) {
    const more = credits > 0 ? `, and you have ${counted(credits, "credit")}` : "";
    return `It would cost ${checks}. The plan has ${counted(left ?? 0, "check")} left${more}. The plan starts again ${relativeTime(timeMs(read.resets_at))}.`;
  }
  if (left === null) return `It costs ${checks}; your plan has no limit.`;
  if (entries <= left) return `It costs ${checks} of the ${count(left)} that your plan has left.`;
  return `Your plan has ${counted(left, "check")} left, so ${count(entries)} of your ${counted(credits, "credit")} pay for it.`;
}

export type Change = (name: string, body: object) => Promise<unknown>;

export interface Known {
  readonly state: ListState;
  readonly change: Change;
  readonly drop: () => Promise<unknown>;
}

export const ALL_LISTS = <Go to="lists" act="All lists" class="plain" />;

/** What every list at rest can do: be left for another, and be deleted. */
export const ListButtons = ({ state, drop }: Pick<Known, "state" | "drop">): VNode => (
  <>
    {ALL_LISTS}
    <Act act="Delete" class="" title="Delete this list?" yes="Delete it" send={drop}>
      {state.charged > 0
        ? "The file and its results are deleted from the server. To see the results again, the list must be checked, and paid for, again."
        : "The file is deleted from the server. Nothing was charged for it."}
    </Act>
  </>
);

export const Ends = ({ state }: Pick<Known, "state">): VNode => (
  <>
    Deleted from this server <Time at={isoIn(state.expires_in_seconds ?? 0)} />.
  </>
);

interface CheckButtonProps {
  read: ReadList;
  entries: number;
  change: Change;
  class?: string;
  /** Those that DNS gave no answer for. */
  again?: true;
}

/** Checks what is not checked, or as much of it as plan and credits cover. */
export function CheckButton({ read, entries, change, again, ...more }: CheckButtonProps): VNode {
  const { plan_left: left, credits, list_limit: most } = read;
  const covered = Math.min(entries, most ?? Infinity, Math.max(left ?? Infinity, credits));
  // No more than the button says, whatever another tab chose meanwhile.
  const body = { first: covered, ...(again && { again }) };
  const words =
    covered < entries
      ? `Check the first ${count(covered)}`
      : `Check ${counted(entries, "entry", "entries")}${again ? " again" : ""}`;
  return (
    <div class="bar">
      <Act act={words} {...more} disabled={covered === 0} send={() => change("check", body)} />
      <span class="note grow">{costWords(entries, covered, read)}</span>
    </div>
  );
}

export const columnName = (name: string, at: number): string =>
  name.trim() === "" ? `Column ${String(at + 1)}` : name;

export function Choices({ read, change }: { read: ReadList; change: Change }): VNode {
  const { fault, run } = useAction();
  const { sheet, sheets, columns, column } = read;
  const choose = (body: object): void => run(() => change("read", body));
  return (
    <>
      <div class="bar choose">
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
      </div>
      <Fault text={fault} />
    </>
  );
}

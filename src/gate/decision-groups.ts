import type { FeedbackOutcome } from "../core/policy/outcomes.ts";
import type { DecisionRow } from "../store/tables/policy.ts";
import type { DecisionGroup, DecisionGroups } from "./gate-shapes.ts";

export type GroupedRow = Readonly<
  Pick<DecisionRow, "decision" | "domain" | "mailbox" | "sources" | "shape">
>;

const GROUPS_MAX = 100;
/** Smaller ones are on every site. */
const STANDS_OUT = 20;

/** The groups of two and more, largest first. `marks`: what was said last of a mailbox. */
export function groupsOf(
  rows: readonly GroupedRow[],
  marks: ReadonlyMap<string, FeedbackOutcome>,
): DecisionGroups {
  const by = (keysOf: (row: GroupedRow) => readonly (string | null)[]) =>
    largest(membersBy(rows, keysOf)).map(([value, members]) => groupOf(value, members, marks));
  const domains = by(({ domain }) => [domain]);
  const mailboxes = by(({ mailbox }) => [mailbox]);
  const sources = by(({ sources }) => sources.split(" "));
  const shapes = by(({ shape }) => [shape]);
  return { total: rows.length, stand_out: standOut(rows), domains, mailboxes, sources, shapes };
}

function membersBy(
  rows: readonly GroupedRow[],
  keysOf: (row: GroupedRow) => readonly (string | null)[],
): ReadonlyMap<string, readonly GroupedRow[]> {
  const found = new Map<string, GroupedRow[]>();
  for (const row of rows) {
    for (const key of keysOf(row)) {
      if (!key) continue;
      const members = found.get(key);
      if (members === undefined) found.set(key, [row]);
      else members.push(row);
    }
  }
  return found;
}

const largest = (groups: ReturnType<typeof membersBy>) =>
  [...groups]
    .filter(([, members]) => members.length > 1)
    .sort(([, a], [, b]) => b.length - a.length)
    .slice(0, GROUPS_MAX);

function groupOf(
  value: string,
  members: readonly GroupedRow[],
  marks: ReadonlyMap<string, FeedbackOutcome>,
): DecisionGroup {
  const decided = { accept: 0, challenge: 0, review: 0, reject: 0 };
  const feedback = { abuse: 0, bounce: 0, complaint: 0, fine: 0 };
  const mailboxes = new Set<string>();
  for (const { decision, mailbox } of members) {
    decided[decision] += 1;
    if (mailbox === null || mailboxes.has(mailbox)) continue;
    mailboxes.add(mailbox);
    const said = marks.get(mailbox);
    if (said !== undefined) feedback[said] += 1;
  }
  const provider = members.some(({ shape }) => shape !== null);
  return { value, count: members.length, mailboxes: mailboxes.size, decided, feedback, provider };
}

/** Large groups of one owner's domain, mailbox or source. One that is mostly in a larger group is not counted again. */
function standOut(rows: readonly GroupedRow[]): DecisionGroups["stand_out"] {
  const ownDomain = ({ domain, shape }: GroupedRow) => (shape === null ? domain : null);
  const groups = membersBy(rows, (row) => [
    ownDomain(row) && `domain ${String(row.domain)}`,
    row.mailbox,
    ...row.sources.split(" "),
  ]);
  const covered = new Set<GroupedRow>();
  let found = 0;
  for (const [, members] of largest(groups)) {
    if (members.length < STANDS_OUT) break;
    const fresh = members.filter((row) => !covered.has(row));
    if (fresh.length * 2 < members.length) continue;
    found += 1;
    for (const row of fresh) covered.add(row);
  }
  return { groups: found, decisions: covered.size };
}

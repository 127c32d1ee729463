import type { VNode } from "preact";
import type { ListRow } from "../../api/shapes.ts";
import { plural, t } from "../../app/i18n.ts";
import { count, counted } from "../../app/numbers.ts";
import { Meter } from "../../parts/meter.tsx";
import {
  type Filter,
  filterRows,
  isLostAt,
  isMisspelt,
  kindOf,
  reasonsOf,
} from "../../words/list-row.ts";

export interface Fixing {
  readonly fixes: ReadonlySet<string>;
  readonly setFixes: (fixes: ReadonlySet<string>) => void;
}

interface LookProps extends Fixing {
  rows: readonly ListRow[];
  /** Rows of the file beyond the different entries. */
  duplicates: number;
  onFilter: (filter: Filter) => void;
  onAgain: (rows: readonly ListRow[]) => void;
}

/** First what can be repaired, then what cannot. Nothing to repair is said, too. */
export function WhatToLookAt(props: LookProps): VNode {
  const { rows, duplicates, onFilter, onAgain } = props;
  const misspelt = rows.filter((row) => isMisspelt(row) && row.meant !== "");
  const lost = rows.filter(isLostAt);
  const disposable = filterRows(rows, { filter: "disposable" });
  const unsure = rows.filter((row) => kindOf(row) === "unsure");
  const isClean =
    misspelt.length + lost.length + disposable.length + unsure.length + duplicates === 0;
  return (
    <section class="stack" aria-labelledby="look">
      <h2 id="look">{t("What to look at")}</h2>
      {isClean ? <p class="prose">{t("Nothing here needs repair.")}</p> : null}
      <div class="even">
        <Repair
          {...props}
          rows={misspelt}
          title={t(plural(misspelt.length, "misspelt domain", "misspelt domains"))}
          onSee={() => onFilter("typo")}
        />
        <Repair
          {...props}
          rows={lost}
          title={t(plural(lost.length, "lost @ sign", "lost @ signs"))}
          onSee={() => onFilter("format")}
        />
        {disposable.length === 0 ? null : (
          <Reasons rows={disposable} onSee={() => onFilter("disposable")} />
        )}
        {duplicates + unsure.length === 0 ? null : (
          <Others duplicates={duplicates} unsure={unsure} onAgain={onAgain} />
        )}
      </div>
    </section>
  );
}

/** What costs nothing, and what another try may tell. */
function Others(props: {
  duplicates: number;
  unsure: readonly ListRow[];
  onAgain: (rows: readonly ListRow[]) => void;
}): VNode {
  const { duplicates, unsure, onAgain } = props;
  return (
    <article class="sheet stack close">
      <h3 class="look-head">
        <b>{count(duplicates)}</b> {t(plural(duplicates, "duplicate", "duplicates"))}
      </h3>
      <p class="prose">
        {t(
          "The same entry in several rows or spellings counts, and is charged, once. The cleaned list keeps the first row.",
        )}
      </p>
      {unsure.length === 0 ? null : (
        <div class="bar">
          <span class="note">
            {counted(
              unsure.length,
              "DNS did not answer for {n} entry.",
              "DNS did not answer for {n} entries.",
            )}
          </span>
          <button type="button" class="small" onClick={() => onAgain(unsure)}>
            {t("Check them again")}
          </button>
        </div>
      )}
    </article>
  );
}

const SHOWN = 4;

interface Slip {
  readonly from: string;
  readonly to: string;
  readonly rows: number;
}

/** Misspelt domains with how many entries have each; of lost "@" signs each one. */
function slipsOf(rows: readonly ListRow[]): readonly Slip[] {
  const slips = new Map<string, Slip>();
  for (const { entry, meant } of rows) {
    const at = entry.lastIndexOf("@") + 1;
    const from = entry.slice(at).toLowerCase();
    const to = at === 0 ? meant : meant.slice(meant.lastIndexOf("@") + 1);
    const known = slips.get(from);
    slips.set(from, { from, to, rows: (known?.rows ?? 0) + 1 });
  }
  return [...slips.values()].sort((a, b) => b.rows - a.rows);
}

/** Letters at the beginning, and at the end of what is left, that both have. */
function shared(from: string, to: string): readonly [before: number, after: number] {
  const most = Math.min(from.length, to.length);
  let before = 0;
  while (before < most && from[before] === to[before]) before += 1;
  let after = 0;
  while (after < most - before && from.at(-1 - after) === to.at(-1 - after)) after += 1;
  return [before, after];
}

/** Both spellings; only the letters that differ are marked. */
function Spellings({ from, to }: { from: string; to: string }): VNode {
  const [before, after] = shared(from, to);
  const parts = (word: string): readonly string[] => {
    const end = word.length - after;
    return [word.slice(0, before), word.slice(before, end), word.slice(end)];
  };
  const [fromStart, wrong, fromEnd] = parts(from);
  const [toStart, right, toEnd] = parts(to);
  return (
    <>
      {fromStart}
      <del>{wrong}</del>
      {fromEnd} → {toStart}
      <ins>{right}</ins>
      {toEnd}
    </>
  );
}

/** One kind of slip, with one press that repairs all of them, and one that takes it back. */
function Repair(
  props: Fixing & { rows: readonly ListRow[]; title: string; onSee: () => void },
): VNode | null {
  const { rows, title, fixes, setFixes, onSee } = props;
  if (rows.length === 0) return null;
  const isFixed = rows.every(({ entry }) => fixes.has(entry));
  const press = (): void => {
    const next = new Set(fixes);
    for (const { entry } of rows) {
      if (isFixed) next.delete(entry);
      else next.add(entry);
    }
    setFixes(next);
  };
  const slips = slipsOf(rows);
  return (
    <article class="sheet stack close">
      <h3 class="look-head">
        <b>{count(rows.length)}</b> {title}
      </h3>
      <ul class="lines">
        {slips.slice(0, SHOWN).map(({ from, to, rows: times }) => (
          <li key={from}>
            <span class="mono grow">
              <Spellings from={from} to={to} />
            </span>
            <span class="note">{count(times)}</span>
          </li>
        ))}
      </ul>
      <div class="bar">
        <button type="button" class={isFixed ? "" : "fix"} onClick={press} aria-pressed={isFixed}>
          {isFixed
            ? t("Fixed {n}. Undo", { n: count(rows.length) })
            : counted(rows.length, "Fix {n}", "Fix all {n}")}
          <span class="unseen"> {title}</span>
        </button>
        <button type="button" class="link" onClick={onSee}>
          {t("See each one")}
          <span class="unseen"> {title}</span>
        </button>
      </div>
    </article>
  );
}

function Reasons({ rows, onSee }: { rows: readonly ListRow[]; onSee: () => void }): VNode {
  const reasons = reasonsOf(rows);
  const most = reasons[0]?.[1] ?? 1;
  return (
    <article class="sheet stack close">
      <h3 class="look-head">
        <b>{count(rows.length)}</b> {t("disposable, by reason")}
      </h3>
      <ul class="lines">
        {reasons.slice(0, SHOWN).map(([reason, times]) => (
          <li key={reason}>
            <span class="grow">{reason}</span>
            <span class="look-bar k-no">
              <Meter share={times / most} />
            </span>
            <span class="note">{count(times)}</span>
          </li>
        ))}
      </ul>
      <button type="button" class="link" onClick={onSee}>
        {counted(rows.length, "See {n}", "See all {n}")}
        <span class="unseen"> {t("disposable, by reason")}</span>
      </button>
    </article>
  );
}

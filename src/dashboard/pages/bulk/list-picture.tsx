import type { VNode } from "preact";
import { plural, t } from "../../app/i18n.ts";
import { count, percent } from "../../app/numbers.ts";
import { type Kind, KINDS } from "../../words/list-row.ts";

export type KindCounts = Readonly<Record<Kind, number>>;

const WORDS: Readonly<Record<Kind, string>> = {
  good: "good",
  disposable: "disposable",
  dns: "no mail server",
  unsure: "could not tell",
  format: "bad format",
};

const COLOURS: Readonly<Record<Kind, string>> = {
  good: "k-yes",
  disposable: "k-no",
  dns: "k-no-2",
  unsure: "k-quiet",
  format: "k-accent-2",
};

const sumOf = (counts: KindCounts): number => KINDS.reduce((sum, kind) => sum + counts[kind], 0);

/** One bar in the order of the verdicts, and what is still to do. */
export function KindBar({ counts, rest = 0 }: { counts: KindCounts; rest?: number }): VNode {
  const words = KINDS.map((kind) => `${t(WORDS[kind])} ${count(counts[kind])}`).join(", ");
  const flex = (entries: number): { flex: string } => ({ flex: `${String(entries)} 1 0` });
  return (
    <div class="split" role="img" aria-label={words}>
      {KINDS.filter((kind) => counts[kind] > 0).map((kind) => (
        <i key={kind} class={COLOURS[kind]} style={flex(counts[kind])} />
      ))}
      {rest > 0 ? <i class="rest" style={flex(rest)} /> : null}
    </div>
  );
}

/** The bar with its counts and shares; they add up. */
export function Picture({ counts }: { counts: KindCounts }): VNode {
  const all = sumOf(counts);
  return (
    <section class="sheet">
      <h2 class="say">
        {t(
          plural(
            counts.good,
            "{n} of {all} entries is good to use.",
            "{n} of {all} entries are good to use.",
          ),
          { n: count(counts.good), all: count(all) },
        )}
      </h2>
      <div class="picture">
        <KindBar counts={counts} />
      </div>
      <div class="legend">
        {KINDS.map((kind) => (
          <div key={kind}>
            <b>{count(counts[kind])}</b>
            <span class={`key ${COLOURS[kind]}`}>
              {t(WORDS[kind])} {all === 0 ? "" : percent(counts[kind] / all)}
            </span>
          </div>
        ))}
      </div>
    </section>
  );
}

import type { VNode } from "preact";
import type { CheckStep, EvidenceShape } from "../../api/shapes.ts";
import { shownDay } from "../../app/clock.ts";
import { t } from "../../app/i18n.ts";
import { Time } from "../../parts/time.tsx";
import { reasonOf } from "../../words/evidence.ts";
import { type Share, sharesOf, titleOf } from "../../words/shares.ts";

/** The score as a sum: each bar begins where the one above ended. */
export function Why({ step }: { step: CheckStep }): VNode {
  const { evidence, result } = step;
  const shares = sharesOf(evidence, result.confidence).filter(({ points }) => points > 0);
  const counting = new Set(shares.map(({ piece }) => piece));
  const notes = evidence.filter((piece) => !counting.has(piece));
  return (
    <section class="sheet stack">
      <div>
        <h2>
          {result.confidence > 0 ? t("Why {score} of 100", { score: result.confidence }) : t("Why")}
        </h2>
        <p class="note">
          {result.format
            ? shares.length > 0
              ? t("Disposable from 50. Each bar begins where the one above ends.")
              : t("Nothing found against it: no list, no word, no suspicious mail server.")
            : t("The format is wrong, so nothing else was checked.")}
        </p>
      </div>
      {shares.length === 0 ? null : (
        <ol class="fall">
          {shares.map((share) => (
            <Row key={share.piece.signal} share={share} />
          ))}
          {shares.length === 1 ? null : <Sum score={result.confidence} />}
        </ol>
      )}
      {notes.length === 0 ? null : <Notes notes={notes} />}
    </section>
  );
}

function Row({ share: { piece, points, from } }: { share: Share }): VNode {
  return (
    <li>
      <div>
        <h3>{titleOf(piece)}</h3>
        <p>
          {reasonOf(piece)} <Fetched piece={piece} /> <code>{piece.signal}</code>
        </p>
      </div>
      <Bar
        from={from}
        points={points}
        words={`+${String(points)}`}
        label={t("adds {points}", { points })}
      />
    </li>
  );
}

function Sum({ score }: { score: number }): VNode {
  return (
    <li class="sum">
      <div>{t("Sum")}</div>
      <Bar from={0} points={score} words={String(score)} label={t("{score} of 100", { score })} />
    </li>
  );
}

/** Narrower bars have their figure beside them. */
const INSIDE_FROM = 24;

function Bar(props: { from: number; points: number; words: string; label: string }): VNode {
  const { from, points, words, label } = props;
  const left = `${String(from)}%`;
  const place = points >= INSIDE_FROM ? "in" : from >= INSIDE_FROM ? "before" : "after";
  const figureAt =
    place === "in"
      ? { left: `calc(${left} + 10px)` }
      : place === "before"
        ? { right: `calc(${String(100 - from)}% + 8px)` }
        : { left: `calc(${String(from + points)}% + 8px)` };
  return (
    <div class="fall-bar" role="img" aria-label={label}>
      <i style={{ left, width: `max(${String(points)}%, 3px)` }} />
      <u />
      <b class={place} style={figureAt}>
        {words}
      </b>
    </div>
  );
}

/** When the copies in use were fetched, or that they came with the program. */
function Fetched({ piece: { lists, by } }: { piece: EvidenceShape }): VNode | null {
  if (lists.length === 0) {
    return by === "learned" ? <>{t("Learned from the mail servers of listed domains.")}</> : null;
  }
  const fetched = lists.flatMap(({ fetched_at: at }) => (at === null ? [] : [at])).sort();
  const newest = fetched.at(-1);
  if (newest === undefined) return <>{t("The list came with this version.")}</>;
  return (
    <span title={shownDay(newest.slice(0, 10))}>
      {t("Fetched")} <Time at={newest} />.
    </span>
  );
}

function Notes({ notes }: { notes: readonly EvidenceShape[] }): VNode {
  return (
    <div>
      <h3 class="small-head">{t("Also noted, adds 0")}</h3>
      <ul class="lines noted">
        {notes.map((piece) => (
          <li key={piece.signal}>
            <span class="grow">
              {titleOf(piece)}. <span class="note">{reasonOf(piece)}</span>
            </span>
            <code class="note">{piece.signal}</code>
          </li>
        ))}
      </ul>
    </div>
  );
}

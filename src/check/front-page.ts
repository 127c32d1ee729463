import { DAY_MS, isoTime } from "../core/calendar.ts";
import type { Datasets } from "../core/evidence/datasets.ts";
import type { TimedValidation, SingleCheck } from "./single-check.ts";
import type { FeedRefresh } from "../lists/feed-refresher.ts";
import type { Clock } from "../base/clock.ts";
import { coreStep } from "./explain.ts";
import type { FrontPage } from "./check-shapes.ts";

export interface FrontDeps {
  readonly check: SingleCheck;
  readonly datasets: () => Datasets;
  readonly refresh: Pick<FeedRefresh, "status">;
  readonly clock: Pick<Clock, "nowMs">;
}

type Shows = (validation: TimedValidation) => boolean;

const EXAMPLES: readonly (readonly [entry: string, shows: Shows])[] = [
  ["someone@mailinator.com", ({ result }) => result.disposable],
  ["maria@gmail.con", ({ result }) => result.signals.includes("typo_domain") && !result.disposable],
  ["info@iana.org", ({ result }) => result.dns && !result.disposable],
];

const FRESH_MS = 600_000;

const RETRY_MS = 15_000;

interface CachedFrontPage {
  readonly page: Promise<FrontPage>;
  readonly version: number;
  untilMs: number;
}

/** The figures and examples of the front page: made for the first visitor, then kept for 10 minutes. */
export function createFrontPage(deps: FrontDeps): () => Promise<FrontPage> {
  let kept: CachedFrontPage | undefined;
  return async () => {
    const nowMs = deps.clock.nowMs();
    const { version } = deps.datasets();
    if (kept === undefined || kept.untilMs <= nowMs || kept.version !== version) {
      const made: CachedFrontPage = { page: makePage(deps), version, untilMs: nowMs + FRESH_MS };
      kept = made;
      made.page.then(
        ({ examples }) => {
          if (examples.length < EXAMPLES.length) made.untilMs = nowMs + RETRY_MS;
        },
        () => (made.untilMs = 0),
      );
    }
    return kept.page;
  };
}

async function makePage(deps: FrontDeps): Promise<FrontPage> {
  const { check, datasets, refresh, clock } = deps;
  const nowMs = clock.nowMs();
  const asked = { features: [], spamTrap: false };
  const [checked, feeds] = await Promise.all([
    Promise.all(
      EXAMPLES.map(async ([entry, shows]) => {
        const validation = await check({ text: entry, mode: "address", asked });
        return shows(validation) ? [{ entry, step: coreStep(entry, validation, datasets()) }] : [];
      }),
    ),
    refresh.status(),
  ]);
  const used = feeds.filter(({ isOff }) => isOff !== true);
  const updatedMs = used.map(({ confirmedAtMs, fetchedAtMs }) => confirmedAtMs ?? fetchedAtMs);
  const latestMs = Math.max(...updatedMs.map((ms) => ms ?? -Infinity));
  return {
    checked_at: isoTime(nowMs),
    examples: checked.flat(),
    lists: used.filter(({ names }) => names > 0).length,
    list_entries: used.reduce((sum, { names }) => sum + names, 0),
    // A clock that was set back must not show a time to come.
    lists_updated_at: latestMs > 0 && latestMs < nowMs + DAY_MS ? isoTime(latestMs) : null,
  };
}

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { countingIds } from "../contracts/stores.ts";
import { keptLog } from "../process/kept-log.ts";
import { listServer } from "./list-server.ts";
import { manualClock } from "../time/manual-clock.ts";
import { realClock } from "../time/real-clock.ts";
import type { Datasets } from "../../src/core/evidence/datasets.ts";
import { createOutbound } from "../../src/outbound/outbound.ts";
import { parseRanges } from "../../src/outbound/public-address.ts";
import { createFeedRefresher, type FeedRefresher } from "../../src/lists/refresh/feed-refresher.ts";
import { unsharedLists } from "../../src/lists/refresh/feed-sharing.ts";
import { loadLists } from "../../src/lists/load/load-lists.ts";
import type { LoadedLists } from "../../src/lists/load/pack-lists.ts";
import { noRules } from "../../src/lists/table/families.ts";
import { attachDatasets } from "../../src/lists/table/shared-datasets.ts";

const ranges = parseRanges(["127.0.0.0/8"]);
const allowed = ranges.ok ? ranges.ranges : [];

export async function openWorld(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "gatepost-lists-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const server = await listServer(t);
  const clock = manualClock();
  const log = keptLog();
  let datasets: Datasets | undefined;
  const swap = ({ shared }: LoadedLists): void => {
    datasets = attachDatasets(shared, noRules);
  };
  const refresher = (more: { timeoutMsOfDed?: number; base?: string } = {}): FeedRefresher => {
    const outbound = createOutbound({
      addresses: () => ({ kind: "absent", why: "noName" }),
      clock: realClock,
      allowed,
    });
    const { timeoutMsOfDed: timeoutMs } = more;
    const made = createFeedRefresher({
      folder,
      urlOf: ({ id }) => `${more.base ?? server.url}/${id}`,
      http: (question) =>
        outbound.http(
          timeoutMs !== undefined && question.url.endsWith("/ded")
            ? { ...question, timeoutMs }
            : question,
        ),
      clock: { nowMs: () => clock.nowMs(), after: (ms, task) => clock.after(ms, task) },
      ids: countingIds(),
      log,
      sharing: unsharedLists,
      loaded: loadLists(folder),
    });
    t.after(() => made.stop());
    return made;
  };
  const sourcesOf = (name: string): readonly string[] => {
    const bits = datasets?.disposable.sourcesOf(name) ?? 0;
    return (datasets?.sources ?? []).flatMap(({ id }, bit) => ((bits >> bit) & 1 ? id : []));
  };
  return { folder, server, clock, log, refresher, swap, sourcesOf, datasets: () => datasets };
}

export const whyOf = async (refresher: FeedRefresher, id: string) =>
  (await refresher.status()).find((each) => each.id === id)?.refusal?.why;

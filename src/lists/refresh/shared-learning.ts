import type { Clock } from "../../base/clock.ts";
import { LEARNING_FILE, type LearningStore, parseRound } from "../files/learning-file.ts";
import type { FeedFiles } from "../feed-files.ts";
import type { Log } from "../../base/log.ts";
import { packFile, unpackFile } from "../table/lists-file.ts";

/**
 * Keeps a round where every machine finds it, so that the next learner continues it. `save` rejects when
 * another machine wrote since this one read or saved.
 */
export function sharedLearning(
  files: FeedFiles,
  { clock, log }: { readonly clock: Pick<Clock, "nowMs">; readonly log: Pick<Log, "warn"> },
): LearningStore {
  let seen: string | undefined;
  return {
    async read() {
      const file = await files.read(LEARNING_FILE);
      seen = file?.version;
      if (file === undefined) return undefined;
      const round = parseRound((await unpackFile(file)) ?? "");
      if (round === undefined) log.warn("learning.round_invalid", { version: file.version });
      return round;
    },
    async save(round) {
      const file = await packFile(LEARNING_FILE, JSON.stringify(round), clock.nowMs());
      if (file.version === seen) return;
      if (!(await files.write(file, seen))) throw new Error("another machine learns");
      seen = file.version;
    },
  };
}

import { copyName, parseCopy } from "../files/feed-copy.ts";
import { isTrusted } from "../refresh/assess-feed.ts";
import { LEARNED_FILE, parseLearned } from "../files/learned-file.ts";
import { FETCHED_SOURCES } from "../sources/feed-sources.ts";
import { parseState, STATE_FILE } from "../files/refresh-state.ts";

/** What machines share, by the name in the data directory, and whether a text may be that file. */
const SHARED: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ...FETCHED_SOURCES.map((source): [string, (text: string) => boolean] => [
    copyName(source.id),
    (text) => {
      const copy = parseCopy(text, source.id);
      return copy !== undefined && isTrusted(source, copy);
    },
  ]),
  [STATE_FILE, (text) => parseState(text) !== undefined],
  [LEARNED_FILE, (text) => parseLearned(text) !== undefined],
]);

export const SHARED_NAMES: readonly string[] = [...SHARED.keys()];

/** False for a file of any other name. */
export const isFit = (name: string, text: string): boolean => SHARED.get(name)?.(text) ?? false;

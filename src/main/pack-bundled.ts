// The last step of a build: packs the lists of the packages once, for every start.
import { BUILT_LISTS_FILE, writeBuiltLists } from "../adapters/lists/load/built-lists.ts";
import { packLists } from "../adapters/lists/load/pack-lists.ts";

writeBuiltLists(BUILT_LISTS_FILE, packLists());

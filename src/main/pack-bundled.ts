// The last step of a build: packs the lists of the packages once, for every start and for the light package.
import { dirname, join } from "node:path";
import { BUILT_LISTS_FILE, writeBuiltLists, writeSmallLists } from "../lists/load/built-lists.ts";
import { packLists } from "../lists/load/pack-lists.ts";

writeBuiltLists(BUILT_LISTS_FILE, packLists());
writeSmallLists(join(dirname(BUILT_LISTS_FILE), "small.lists"));

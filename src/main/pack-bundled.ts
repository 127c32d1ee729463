// The last step of a build: packs the lists of the packages once, for every start and for the light package.
import { dirname, join } from "node:path";
import {
  BUILT_LISTS_FILE,
  packLists,
  writeBuiltLists,
  writeSmallLists,
} from "../lists/load-lists.ts";

writeBuiltLists(BUILT_LISTS_FILE, packLists());
writeSmallLists(join(dirname(BUILT_LISTS_FILE), "small.lists"));

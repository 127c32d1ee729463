import { hostname } from "node:os";
import { pid } from "node:process";
import type { Ids } from "../../base/ids.ts";

/** A name for this process, new with each start: it tells an operator which process holds what. */
export const processName = (ids: Pick<Ids, "hex32">): string =>
  `${hostname()}-${String(pid)}-${ids.hex32().slice(-8)}`;

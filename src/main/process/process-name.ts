import { hostname } from "node:os";
import { pid } from "node:process";
import { systemIds as ids } from "../../adapters/system/ids.ts";

/** A name for this process, new with each start: so that an operator sees who has what, and no two are alike. */
export const processName = (): string => `${hostname()}-${String(pid)}-${ids.hex32().slice(-8)}`;

import { join } from "node:path";
import { sweepDrafts } from "../../base/drafts.ts";
import type { Process } from "../process/open-process.ts";

/** The copy of the RDAP bootstrap file lies here. */
export const rdapFolder = (dataDir: string): string => join(dataDir, "rdap");

/** At a start: what killed processes left half written in the data directory goes. */
export function tidyUp({ config: { dataDir }, clock, log }: Process): void {
  const folders = [dataDir, rdapFolder(dataDir)];
  const files = sweepDrafts(folders, clock.nowMs());
  if (files > 0) log.info("start.drafts_deleted", { files });
}

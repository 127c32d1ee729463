import { call } from "./client.ts";
import type { Outcome } from "./shapes.ts";

/** Why and until when; `lastDay` is YYYY-MM-DD or "". */
export interface Details {
  readonly note: string;
  readonly lastDay: string;
}

/** In the server's form: without a last day the member is absent. */
export const detailsBody = ({ note, lastDay }: Details): { note: string; expires?: string } => ({
  note,
  ...(lastDay !== "" && { expires: lastDay }),
});

/** The operator accepts the changed size of the feeds in `accept`. */
export const refreshSources = (
  accept: readonly string[],
): Promise<{ readonly outcomes: readonly Outcome[] }> =>
  call("POST", "admin/lists/refresh", { accept });

/** A feed that is off gives no evidence, in every process. */
export const switchFeed = (id: string, isOff: boolean): Promise<unknown> => {
  const entry = `feed:${id}`;
  return isOff
    ? call("POST", "admin/lists/entries", { entry, kind: "off", ...detailsBody(NO_DETAILS) })
    : call("POST", "admin/lists/forget", { entry });
};

const NO_DETAILS: Details = { note: "", lastDay: "" };

import { call } from "./client.ts";
import type { BackTestShape, Outcome } from "./shapes.ts";

/** Why and until when; `lastDay` is YYYY-MM-DD or "". */
export interface Details {
  readonly note: string;
  readonly lastDay: string;
}

/** As the server takes them: no last day is no member. */
export const detailsBody = ({ note, lastDay }: Details): { note: string; expires?: string } => ({
  note,
  ...(lastDay !== "" && { expires: lastDay }),
});

/** Of those in `accept` the operator says that they really changed so much. */
export const refreshSources = (
  accept: readonly string[],
): Promise<{ readonly outcomes: readonly Outcome[] }> =>
  call("POST", "admin/lists/refresh", { accept });

export const backTest = (text: string): Promise<BackTestShape> =>
  call("POST", "admin/lists/test", { text });

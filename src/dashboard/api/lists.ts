import { ApiFault, call, readLines, send } from "./client.ts";
import type { CompactRow, ListRow, ListState } from "./shapes.ts";

export const startList = (text: string): Promise<ListState> =>
  call<ListState>("POST", "lists", { text });

export const listState = (session: string): Promise<ListState> =>
  call<ListState>("GET", `lists/${session}`);

export const forgetList = (session: string): Promise<void> =>
  call<undefined>("DELETE", `lists/${session}`);

const LOOK_EVERY_MS = 1_000;

/** Looks that may fail one after the other while the list runs on. */
const FAILED_LOOKS_MAX = 30;

/** The server is out of reach, restarting, or asked too often from this address: it may answer the next time. */
export const isPassing = (error: unknown): boolean =>
  error instanceof ApiFault && (error.status === 0 || error.status === 429 || error.status >= 500);

const later = (delayMs: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, delayMs));

/** Tells how far the list is, about once a second, and gives its last state; `isWanted` may end it before. */
export async function watchList(
  session: string,
  take: (state: ListState) => void,
  isWanted: () => boolean,
): Promise<ListState | undefined> {
  let failed = 0;
  while (isWanted()) {
    await later(LOOK_EVERY_MS);
    try {
      const state = await listState(session);
      failed = 0;
      if (state.status === "completed" || state.status === "failed") return state;
      take(state);
    } catch (error) {
      failed += 1;
      if (!isPassing(error) || failed >= FAILED_LOOKS_MAX) throw error;
    }
  }
  return undefined;
}

/** All rows, in the order they were submitted. */
export async function listRows(session: string): Promise<readonly ListRow[]> {
  const rows: ListRow[] = [];
  const response = await send("GET", `/account/lists/${session}/rows`);
  await readLines(response, (value) => {
    for (const [
      entry,
      fate,
      confidence,
      signals,
      ,
      code,
      meant,
    ] of value as readonly CompactRow[]) {
      rows.push({ entry, fate, confidence, signals, code, meant });
    }
  });
  return rows;
}

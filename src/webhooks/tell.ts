import { type End, every } from "../base/every.ts";
import { inTransaction, type Tx } from "../store/transaction.ts";
import type { AnnounceDeps } from "./dispatcher.ts";
import type { WebhookEvent } from "./webhooks-store.ts";

interface News {
  readonly accountId: string;
  readonly event: WebhookEvent;
  readonly data: object;
}

/** Tells the news in the transaction that notes them, so that a kill tells nothing twice; whether there were any. */
export async function tell(
  { db, announce, announced }: AnnounceDeps,
  note: (tx: Tx) => Promise<readonly News[]>,
) {
  const isTold = await inTransaction(db, async (tx) => {
    const news = await note(tx);
    for (const { accountId, event, data } of news) await announce(tx, accountId, event, data);
    return news.length > 0;
  });
  if (isTold) announced();
  return isTold;
}

const LOOK_EVERY_MS = 30_000;

/** `event` is the line in the log of a look that fails. */
export function lookOften(
  { clock, log }: AnnounceDeps,
  event: string,
  look: () => Promise<void>,
): End {
  const failed = (fault: unknown): void => log.error(event, fault);
  return every({ ms: LOOK_EVERY_MS, clock, failed }, look);
}

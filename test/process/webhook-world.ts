import type { TestContext } from "node:test";
import {
  Deliveries,
  WebhookEndpoints,
  type WebhookEvent,
} from "../../src/webhooks/webhooks-store.ts";
import { createSecretBox } from "../../src/base/secrets.ts";
import type { Clock } from "../../src/base/clock.ts";
import type { HttpReply, OutboundResult } from "../../src/outbound/outbound-types.ts";
import type { WebhookPost, WebhookSender } from "../../src/webhooks/webhook-sender.ts";
import type { BulkStats } from "../../src/bulk/jobs/bulk-shapes.ts";
import { inTransaction } from "../../src/store/transaction.ts";
import { Dispatcher } from "../../src/webhooks/dispatcher.ts";
import { addAccount, openStores } from "../contracts/stores.ts";
import { keptLog } from "./kept-log.ts";
import { realClock } from "../time/real-clock.ts";
import { until as lookUntil } from "../time/until.ts";

export const MASTER = new Uint8Array(32).fill(7);

export interface Parked {
  readonly post: WebhookPost;
  /** Lets the receiver answer. */
  readonly answer: (result?: OutboundResult<HttpReply>) => void;
}

export const accepted = (status = 200, body = "ok"): OutboundResult<HttpReply> => ({
  ok: true,
  value: { status, headers: {}, body: new TextEncoder().encode(body), cut: false },
});

/** A sender that records deliveries; posts to a URL with "hang" wait for `release`. */
export function recordingSender() {
  const posts: WebhookPost[] = [];
  const parked: Parked[] = [];
  let answerWith = accepted();
  let over = false;
  const sender: WebhookSender = {
    post(post) {
      posts.push(post);
      if (over || !post.url.includes("hang")) return Promise.resolve(answerWith);
      return new Promise((resolve) => {
        parked.push({ post, answer: (result = accepted()) => resolve(result) });
      });
    },
  };
  /** Lets all receivers answer, from now on at once. */
  const release = (): void => {
    over = true;
    for (const each of parked) each.answer();
  };
  return {
    sender,
    posts,
    parked,
    release,
    answerNext: (result: OutboundResult<HttpReply>) => (answerWith = result),
  };
}

export interface WorldOptions {
  readonly clock?: Clock;
  readonly dataDir?: string;
  /** Replaces the recording one. */
  readonly sender?: WebhookSender;
}

/** All webhook parts on SQLite in memory, with a recording sender. */
export async function webhookWorld(
  t: TestContext,
  { clock = realClock, dataDir = ":memory:", sender }: WorldOptions = {},
) {
  const stores = await openStores(t, dataDir);
  const { ids } = stores;
  const log = keptLog();
  const endpoints = new WebhookEndpoints(stores.sql.db);
  const deliveries = new Deliveries(stores.sql.db);
  const box = createSecretBox(MASTER);
  const recording = recordingSender();
  const deps = { endpoints, deliveries, box, sender: sender ?? recording.sender, clock, log, ids };
  const dispatcher = new Dispatcher(deps);
  t.after(() => {
    recording.release();
    return dispatcher.stop();
  });
  return {
    ...deps,
    ...recording,
    stores,
    dispatcher,
    announce: async (accountId: string, stats: BulkStats): Promise<void> => {
      const { write, written } = dispatcher.announcement;
      const owner = { kind: "account", accountId } as const;
      await inTransaction(stores.sql.db, (tx) =>
        write(tx, { owner, session: stats.session, stats }),
      );
      written();
    },
    ping: (accountId: string) => dispatcher.ping(accountId),
    /** An account whose receiver is at `url`. */
    subscribe: async (
      id: string,
      url = `https://${id}.example/`,
      events: readonly WebhookEvent[] = [],
    ): Promise<void> => {
      await addAccount(stores, 0, id);
      await endpoints.save({
        accountId: id,
        url,
        events,
        sealedSecret: box.seal(`secret of ${id}`, id),
      });
    },
  };
}

/** For work beside the call under test. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  await lookUntil(holds, { what });
}

export const statsOf = (session: string) => ({
  total: 5,
  unique: 4,
  invalid_format: 1,
  invalid_dns: 1,
  disposable: 1,
  valid: 1,
  session,
});

import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { givenTime } from "../time/given-time.ts";
import type { ScaledAccount } from "./scaled-account.ts";
import { type Answered, readError, readResult } from "../http/strict-client.ts";

/** One answer, and the time of its request. */
export interface Seen {
  readonly kind: Kind;
  /** The index of its server. */
  readonly server: number;
  readonly status: number;
  /** By the monotonic clock. */
  readonly askedAtMs: number;
  readonly answeredAtMs: number;
  /** By `givenTime`: time of the service, without time in which the client did not run. */
  readonly tookMs: number;
}

export type Kind = "keyed" | "anonymous" | "bulk" | "decide" | "ready";

export interface TrafficOptions {
  readonly apis: readonly string[];
  /** The account whose key the single checks use. */
  readonly keyed: ScaledAccount;
  /** The account that sends synchronous batches of `BULK_ENTRIES`. */
  readonly bulk: ScaledAccount;
  /** The account that has sign-ups decided. */
  readonly gate: ScaledAccount;
}

export interface Traffic {
  /** No request came before. */
  readonly sinceMs: number;
  readonly seen: readonly Seen[];
  /** Answers outside the contract. */
  readonly odd: ReadonlySet<string>;
  /** What `/readyz` named while it was 503, by server. */
  readonly named: readonly Set<string>[];
  /** Resolves when every request is answered. */
  stop(): Promise<void>;
}

export const BULK_ENTRIES = 20;

/** Of decisions. */
export const DEADLINE_MS = 500;

/** The requests of the traffic. */
export const BULK_NAMES = Array.from({ length: BULK_ENTRIES }, (_, at) => `b${String(at)}.example`);

/** Milliseconds between an answer and the next request of the same kind to the same server. */
const REST_MS: Readonly<Record<Kind, number>> = {
  keyed: 200,
  anonymous: 400,
  bulk: 500,
  decide: 200,
  ready: 500,
};

/** Clients without a key; they exceed their rate, so 429 occurs too. */
const ADDRESSES = 8;

/**
 * Sends requests to every server until it is stopped, one of each kind at a time: a slow machine gets less work, and
 * no growing queue.
 */
export function startTraffic(options: TrafficOptions): Traffic {
  const { apis } = options;
  const seen: Seen[] = [];
  const odd = new Set<string>();
  const named = apis.map(() => new Set<string>());
  const given = givenTime();
  const ask = async (kind: Kind, server: number, turn: number): Promise<void> => {
    const askedAtMs = performance.now();
    const fromMs = given.nowMs();
    try {
      const answer = await ASK[kind](apis[server] ?? "", turn, options);
      const answeredAtMs = performance.now();
      const tookMs = given.nowMs() - fromMs;
      seen.push({ kind, server, status: answer.status, askedAtMs, answeredAtMs, tookMs });
      if (kind === "ready" && answer.status === 503) {
        for (const name of failingIn(answer)) named[server]?.add(name);
      } else READ[kind](answer);
    } catch (fault) {
      odd.add(`${kind}: ${fault instanceof Error ? fault.message : String(fault)}`);
    }
  };
  let isOver = false;
  const askOn = async (kind: Kind, server: number): Promise<void> => {
    for (let turn = server; !isOver; turn += apis.length) {
      await ask(kind, server, turn);
      await pause(REST_MS[kind]);
    }
  };
  const sinceMs = performance.now();
  const asking = KINDS.flatMap((kind) => apis.map((_, server) => askOn(kind, server)));
  return {
    sinceMs,
    seen,
    odd,
    named,
    async stop() {
      isOver = true;
      await Promise.all(asking);
      given.stop();
    },
  };
}

const KINDS: readonly Kind[] = ["keyed", "anonymous", "bulk", "decide", "ready"];

type Ask = (api: string, turn: number, from: TrafficOptions) => Promise<Answered>;

const LIST = BULK_NAMES.join(" ");

const ASK: Readonly<Record<Kind, Ask>> = {
  keyed: (api, turn, { keyed }) => keyed.get(api, `/api/email/jo@b${String(turn % 9)}.example`),
  anonymous: (api, turn) =>
    plain(`${api}/api/domain/b${String(turn % 9)}.example`, {
      "x-forwarded-for": `203.0.113.${String(1 + (turn % ADDRESSES))}`,
    }),
  bulk: (api, _turn, { bulk }) => bulk.post(api, "/api/domain", { domain: LIST, bulk: "true" }),
  decide: (api, turn, { gate }) =>
    gate.post(api, "/api/decide", {
      email: `jo@b${String(turn % 9)}.example`,
      deadline_ms: String(DEADLINE_MS),
    }),
  ready: (api) => plain(`${api}/readyz`),
};

export const BACK: readonly Kind[] = ["keyed", "bulk", "ready"];

/** Whether each server's last two answers of every kind are 200 and were requested since then. */
export const isBack = ({ seen, named }: Traffic, sinceMs: number): boolean =>
  BACK.every((kind) => {
    const since = seen.filter((one) => one.kind === kind && one.askedAtMs >= sinceMs);
    return named.every((_, at) => {
      const last = since.filter(({ server }) => server === at).slice(-2);
      return last.length === 2 && last.every(({ status }) => status === 200);
    });
  });

/** A request without a key. */
async function plain(url: string, headers: Record<string, string> = {}): Promise<Answered> {
  const answer = await fetch(url, { headers });
  return {
    status: answer.status,
    headers: Object.fromEntries(answer.headers),
    body: await answer.text(),
  };
}

/** Throws for an answer outside the contract: 200, 429 where possible, 503. */
const READ: Readonly<Record<Kind, (answer: Answered) => void>> = {
  keyed: (answer) => readSingle(answer, "email"),
  anonymous: (answer) => {
    if (answer.status === 429) readError(answer, 429);
    else readSingle(answer, "domain");
  },
  bulk: (answer) => {
    if (answer.status !== 200) readError(answer, 503);
  },
  // Whatever is away, a sign-up is decided.
  decide: ({ status, body }) => {
    assert.equal(status, 200);
    assert.equal((JSON.parse(body) as { readonly decision: string }).decision, "accept");
  },
  ready: ({ status }) => assert.equal(status, 200),
};

function readSingle(answer: Answered, family: "email" | "domain"): void {
  if (answer.status === 503) readError(answer, 503);
  else readResult(answer, family);
}

/** Of "Not ready: database, dns." */
function failingIn(answer: Answered): readonly string[] {
  const { error } = JSON.parse(answer.body) as { readonly error: string };
  const names = /^Not ready: (.+)\.$/.exec(error)?.[1];
  assert.ok(names !== undefined, answer.body);
  return names.split(", ");
}

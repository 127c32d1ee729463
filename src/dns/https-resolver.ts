import type { UnknownReason, Until } from "../core/mail/lookup.ts";
import type { Clock } from "../base/clock.ts";
import type { OwnerKey } from "../base/owner.ts";
import { Lane } from "./transport/lane.ts";
import {
  answers,
  decodeResponse,
  encodeQuery,
  interpret,
  type Question,
  type Reply,
} from "./message/wire.ts";
import {
  EXCHANGE_MAX_MS,
  NO_COUNTS,
  noUnknown,
  type ResolverStats,
  type PendingQuestion,
  type Done,
} from "./query.ts";
import type { Resolver } from "./resolver.ts";

export type Fetch = (
  url: string,
  options: {
    readonly headers: Readonly<Record<string, string>>;
    readonly redirect: "error";
    readonly signal: AbortSignal;
  },
) => Promise<HttpsAnswer>;

interface HttpsAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: { getReader(): ChunkReader } | null;
}

interface ChunkReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

interface HttpsResolverOptions {
  readonly url: string;
  readonly fetch: Fetch;
  readonly clock: Clock;
}

const UNDER_WAY_MAX = 32;

/** A DNS message has at most 65,535 octets (RFC 8484 section 6). */
const MESSAGE_MAX_OCTETS = 65_535;

const MEDIA_TYPE = "application/dns-message";

/** RFC 8484 with GET, which browsers send to another origin without asking first. One retry after a fault. */
export class HttpsResolver implements Resolver {
  readonly #options: HttpsResolverOptions;
  readonly #lane = new Lane<{ readonly by: OwnerKey | undefined; readonly begin: () => void }>({
    start: ({ begin }) => begin(),
    size: () => UNDER_WAY_MAX,
  });
  readonly #open = new Set<AbortController>();
  readonly #counts = { ...NO_COUNTS };
  readonly #unknown = noUnknown();
  #isClosed = false;

  constructor(options: HttpsResolverOptions) {
    this.#options = options;
  }

  ask<T>(question: PendingQuestion<T>, done: Done<T>): void {
    void this.#ask(question, done);
  }

  room(): undefined {
    return undefined;
  }

  stats(): ResolverStats {
    const unsettled = this.#open.size;
    return {
      ...this.#counts,
      unknown: { ...this.#unknown },
      window: UNDER_WAY_MAX,
      underWay: Math.min(UNDER_WAY_MAX, unsettled),
      unsettled,
      tcpAlone: 0,
    };
  }

  close(): void {
    this.#isClosed = true;
    for (const controller of this.#open) controller.abort();
  }

  async #ask<T>(question: PendingQuestion<T>, done: Done<T>): Promise<void> {
    const { clock } = this.#options;
    const startMs = clock.monotonicMs();
    this.#counts.queries += 1;
    const reply = await this.#answer(question);
    if (reply.kind === "unknown") this.#unknown[reply.why] += 1;
    done(reply, clock.monotonicMs() - startMs);
  }

  async #answer<T>(question: PendingQuestion<T>): Promise<Reply<T>> {
    const query = encodeQuery(question, { edns: false });
    if (query === undefined) return { kind: "absent", why: "noName", ttlSeconds: undefined };
    if (this.#isClosed) return { kind: "unknown", why: "deadline" };
    const controller = new AbortController();
    this.#open.add(controller);
    const { signal } = controller;
    const cancel = this.#options.clock.after(EXCHANGE_MAX_MS, () => controller.abort());
    try {
      const told = await Promise.race([
        this.#inTurn(question.by, () => this.#exchanges(query, signal, question.until)),
        rejectedBy(signal),
      ]);
      if (typeof told === "string") return { kind: "unknown", why: told };
      return read(question, query, told);
    } catch {
      return { kind: "unknown", why: this.#isClosed ? "deadline" : "timeout" };
    } finally {
      cancel();
      this.#open.delete(controller);
    }
  }

  async #inTurn<T>(by: OwnerKey | undefined, work: () => Promise<T>): Promise<T> {
    const item = { by, begin: (): void => undefined };
    await new Promise<void>((resolve) => {
      item.begin = resolve;
      this.#lane.add(item);
    });
    try {
      return await work();
    } finally {
      this.#lane.over(item, true);
      this.#lane.release(item);
    }
  }

  async #exchanges(
    query: Uint8Array,
    signal: AbortSignal,
    until: Until | undefined,
  ): Promise<AgedMessage | UnknownReason> {
    const isOver = (): boolean => until?.isPast === true;
    if (isOver()) return "deadline";
    const first = await this.#exchange(query, signal);
    if ((first !== "network" && first !== "servfail") || isOver()) return first;
    this.#counts.retries += 1;
    const second = await this.#exchange(query, signal);
    if (typeof second !== "string") this.#counts.recovered += 1;
    return second;
  }

  async #exchange(query: Uint8Array, signal: AbortSignal): Promise<AgedMessage | UnknownReason> {
    const { url, fetch } = this.#options;
    signal.throwIfAborted(); // it may have waited for a place
    const asked = `${url}${url.includes("?") ? "&" : "?"}dns=${base64url(query)}`;
    try {
      const headers = { Accept: MEDIA_TYPE };
      return await toldBy(await fetch(asked, { headers, redirect: "error", signal }));
    } catch (error) {
      if (signal.aborted) throw error;
      return "network";
    }
  }
}

async function toldBy(answer: HttpsAnswer): Promise<AgedMessage | UnknownReason> {
  const { status, headers } = answer;
  const octets = await readBody(answer.body);
  if (status === 429 || status === 403) return "refused";
  if (status >= 500) return "servfail";
  const type = headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (status !== 200 || type !== MEDIA_TYPE || octets === undefined) return "malformed";
  return { octets, ageSeconds: Number(headers.get("age")) || 0 };
}

const rejectedBy = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(new Error("too late")), { once: true });
  });

interface AgedMessage {
  readonly octets: Uint8Array;
  /** RFC 8484 section 5.1: what HTTP caches held is older than its TTLs say. */
  readonly ageSeconds: number;
}

function read<T>(
  question: Question<T>,
  query: Uint8Array,
  { octets, ageSeconds }: AgedMessage,
): Reply<T> {
  const response = answers(octets, query) ? decodeResponse(octets, question) : undefined;
  if (response === undefined || response.truncated) return { kind: "unknown", why: "malformed" };
  const reply = interpret(question, response);
  if (reply.kind === "unknown" || reply.ttlSeconds === undefined) return reply;
  return { ...reply, ttlSeconds: Math.max(0, reply.ttlSeconds - ageSeconds) };
}

async function readBody(body: HttpsAnswer["body"]): Promise<Uint8Array | undefined> {
  const reader = body?.getReader();
  const message = new Uint8Array(MESSAGE_MAX_OCTETS);
  let used = 0;
  while (reader !== undefined) {
    const { done, value } = await reader.read();
    if (done || value === undefined) break;
    if (used + value.length > MESSAGE_MAX_OCTETS) {
      await reader.cancel();
      return undefined;
    }
    message.set(value, used);
    used += value.length;
  }
  return message.subarray(0, used);
}

/** RFC 4648 section 5, without padding. */
const base64url = (octets: Uint8Array): string =>
  btoa(String.fromCharCode(...octets))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

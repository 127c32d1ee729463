import { GatepostError, unlike } from "./results.ts";

/** The end of everything that one call does. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Milliseconds. */
  readonly left: () => number;
  /** Rejects at the deadline, or when the caller gives up. */
  readonly passed: Promise<never>;
  readonly clear: () => void;
}

/** Longer timers would fire at once. */
const TIMER_MAX_MS = 2_147_483_647;

/** A caller's own signal ends the call with its reason; the deadline with a fault. */
export function startDeadline(ms: number, caller?: AbortSignal): Deadline {
  const ending = new AbortController();
  const endsAt = performance.now() + ms;
  const timer = setTimeout(
    () => ending.abort(new GatepostError("timeout", `No answer within ${String(ms)} ms.`)),
    Math.min(ms, TIMER_MAX_MS),
  );
  const giveUp = (): void => ending.abort(caller?.reason);
  const { signal } = ending;
  const passed = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
  passed.catch(() => undefined);
  if (caller?.aborted === true) giveUp();
  caller?.addEventListener("abort", giveUp, { once: true });
  return {
    signal,
    passed,
    left: () => endsAt - performance.now(),
    clear() {
      clearTimeout(timer);
      caller?.removeEventListener("abort", giveUp);
    },
  };
}

export interface Question {
  readonly url: string;
  readonly method?: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly maxBytes: number;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
}

/** One request. Redirects are not followed: the key goes to the service alone. */
export async function ask(
  question: Question,
  { signal, passed }: Deadline,
  fetched: typeof fetch,
): Promise<Answer> {
  const { url, method = "GET", headers, body, maxBytes } = question;
  const init = { method, headers, signal, redirect: "manual", ...(body !== undefined && { body }) };
  const work = (async (): Promise<Answer> => {
    const response = await fetched(url, init as RequestInit);
    const bytes = await bodyOf(response, maxBytes);
    return { status: response.status, headers: response.headers, bytes };
  })();
  try {
    return await Promise.race([work, passed]);
  } catch (error) {
    work.catch(() => undefined);
    if (signal.aborted) throw signal.reason;
    if (error instanceof GatepostError) throw error;
    throw new GatepostError("network", `${new URL(url).host} did not answer.`, { cause: error });
  }
}

/** No more than `maxBytes`: a body of known length is bounded by it, all others are counted. */
async function bodyOf(response: Response, maxBytes: number): Promise<Uint8Array> {
  const { body, headers } = response;
  if (body === null) return new Uint8Array();
  const length = Number(headers.get("content-length") ?? Infinity);
  if (length <= maxBytes && !headers.has("content-encoding")) {
    return new Uint8Array(await response.arrayBuffer());
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (const reader = body.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > maxBytes) {
      void reader.cancel().catch(() => undefined);
      throw unlike();
    }
    chunks.push(value);
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

/** The JSON of a 200; throws for everything else. */
export function jsonOf({ status, headers, bytes }: Answer): unknown {
  if (status !== 200) throw refusal(status, headers, bytes);
  if (!/^application\/json\b/i.test(headers.get("content-type") ?? "")) throw unlike();
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    throw unlike();
  }
}

export function refusal(status: number, headers: Headers, bytes: Uint8Array): GatepostError {
  const seconds = headers.get("retry-after") ?? "";
  const retryAfter = /^\d{1,6}$/.test(seconds) ? Number(seconds) : undefined;
  const said = errorOf(bytes);
  return new GatepostError("status", said ?? `Status ${String(status)}.`, { status, retryAfter });
}

/** What the service says, in its own words. */
function errorOf(bytes: Uint8Array): string | undefined {
  try {
    const { error } = JSON.parse(new TextDecoder().decode(bytes.subarray(0, 4_096))) as {
      readonly error?: unknown;
    };
    return typeof error === "string" ? error : undefined;
  } catch {
    return undefined;
  }
}

/** The question may be asked again: it may not have arrived, or the service is being restarted. */
export const isPassing = ({ kind, status = 0 }: GatepostError): boolean =>
  kind === "network" || (kind === "status" && status >= 502 && status <= 504);

/** Waits; rejects when the deadline passes before. */
export async function pause(ms: number, { passed }: Deadline): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const waited = new Promise<void>((resolve) => void (timer = setTimeout(resolve, ms)));
  try {
    await Promise.race([waited, passed]);
  } finally {
    clearTimeout(timer);
  }
}

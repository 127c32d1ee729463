import { fetchCheck, takeAsked } from "./asked.ts";
import { relativeTime, timeMs } from "./format.ts";
import type { CheckStep } from "./shapes.ts";

/** The server said no, or did not answer. `message` is for people. */
export class ApiFault extends Error {
  /** HTTP status; 0 when no answer came. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = "ApiFault";
    this.status = status;
  }
}

let tellSignedOut: () => void = () => undefined;

/** Runs `task` whenever the server no longer knows this browser's session. */
export function whenSignedOut(task: () => void): void {
  tellSignedOut = task;
}

type Method = "GET" | "POST" | "DELETE";

const NO_ANSWER = "The server did not answer. Check your connection and try again.";

/** The message for a status; the server's own text is for programs. */
const STATUS_WORDS: Readonly<Record<number, string>> = {
  500: "Something went wrong in the service. Try again; if it persists, tell the operator.",
  503: "The service is busy, or something it needs is away. Try again in a few minutes.",
};

async function messageOf(response: Response): Promise<string> {
  const known = STATUS_WORDS[response.status];
  if (known !== undefined) return known;
  try {
    const body: unknown = await response.json();
    if (typeof body === "object" && body !== null && "error" in body) {
      const resetsAt = "reset_at" in body ? timeMs(String(body.reset_at)) : NaN;
      const again = Number.isNaN(resetsAt) ? "" : ` It starts again ${relativeTime(resetsAt)}.`;
      return `${String(body.error)}${again}`;
    }
  } catch {
    // Not JSON: a proxy answered in our place.
  }
  return `The server answered with status ${String(response.status)}. Try again in a minute.`;
}

/** The answer to a request; throws an `ApiFault` unless it is 2xx. */
export async function accepted(answer: Promise<Response>): Promise<Response> {
  let response: Response;
  try {
    response = await answer;
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiFault(0, NO_ANSWER);
  }
  if (response.ok) return response;
  const fault = new ApiFault(response.status, await messageOf(response));
  if (response.status === 401 && response.headers.get("x-session") === "none") tellSignedOut();
  throw fault;
}

/** One request under `account/`, JSON in and out. The shape is the server's promise, not checked again. */
export async function call<Answer>(method: Method, path: string, body?: unknown): Promise<Answer> {
  const headers = { "content-type": "application/json" };
  const sent = body === undefined ? {} : { headers, body: JSON.stringify(body) };
  const response = await accepted(
    fetch(`account/${path}`, { method, credentials: "same-origin", ...sent }),
  );
  return (response.status === 204 ? undefined : await response.json().catch(cutOff)) as Answer;
}

export const post = <Answer = unknown>(path: string, body: unknown = {}): Promise<Answer> =>
  call<Answer>("POST", path, body);

/** The connection broke while the answer came, or a proxy's own page came in its place. */
function cutOff(): never {
  throw new ApiFault(0, NO_ANSWER);
}

/** Checks one entry for one unit. `take` gets the core facts first and the whole result last, each as soon as it is there. */
export async function checkEntry(
  entry: string,
  take: (step: CheckStep) => void,
  signal: AbortSignal,
): Promise<void> {
  const response = await accepted(takeAsked(entry) ?? fetchCheck(entry, signal));
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (let isDone = reader === undefined; !isDone;) {
    const chunk = await reader?.read().catch(cutOff);
    isDone = chunk?.done !== false;
    const lines = (rest + (chunk?.value ?? "")).split("\n");
    rest = isDone ? "" : (lines.pop() ?? "");
    for (const line of lines) if (line !== "") take(stepOf(JSON.parse(line)));
  }
}

/** The server puts what goes wrong on the way into a last line of its own. */
function stepOf(value: CheckStep | { readonly error: string }): CheckStep {
  if ("error" in value) throw new ApiFault(500, STATUS_WORDS[500] ?? value.error);
  return value;
}

/** What to show for anything that was thrown. */
export const faultText = (error: unknown): string =>
  error instanceof ApiFault ? error.message : "Something went wrong in this page. Reload it.";

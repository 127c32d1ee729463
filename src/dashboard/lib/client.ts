import { signal } from "@preact/signals";
import type { CheckStep } from "../../http/account/shapes.ts";
import { relativeTime, timeMs } from "./format.ts";

/** The server said no, or did not answer. `message` is for people. */
export class ApiFault extends Error {
  readonly status: number;
  /** As in docs/errors.md; "" when no answer came. */
  readonly code: string;

  constructor(status: number, message: string, code = "") {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** The server no longer knows the session: the page, and what was typed there, waits behind the question for it. */
export const isEnded = signal(false);

const NO_ANSWER = "The server did not answer. Check your connection and try again.";

const STATUS_WORDS: Readonly<Record<number, string>> = {
  500: "Something went wrong in the service. Try again; if it persists, tell the operator.",
};

async function messageOf(response: Response): Promise<string> {
  const { status } = response;
  // Not JSON: a proxy answered in our place.
  const body: unknown = await response.json().catch(() => undefined);
  const { error, reset_at: at } = Object(body) as { error?: string; reset_at?: string };
  const again = at === undefined ? "" : ` It starts again ${relativeTime(timeMs(at))}.`;
  const unknown = `The server answered with status ${String(status)}. Try again in a minute.`;
  return STATUS_WORDS[status] ?? (error === undefined ? unknown : error + again);
}

/** The connection broke, also while the answer came, or a proxy's own page came in its place. */
function cutOff(error: unknown): never {
  if (error instanceof DOMException && error.name === "AbortError") throw error;
  throw new ApiFault(0, NO_ANSWER);
}

export async function ask(path: string, options: RequestInit): Promise<Response> {
  const response = await fetch(`account/${path}`, {
    credentials: "same-origin",
    ...options,
  }).catch(cutOff);
  return checked(response);
}

async function checked(response: Response): Promise<Response> {
  if (response.ok) return response;
  const code = response.headers.get("gatepost-error") ?? "";
  const fault = new ApiFault(response.status, await messageOf(response), code);
  if (response.status === 401 && response.headers.get("x-session") === "none") isEnded.value = true;
  throw fault;
}

const asJson = (body: unknown): RequestInit =>
  body === undefined
    ? {}
    : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };

export async function call<Answer>(
  method: "GET" | "POST" | "DELETE",
  path: string,
  body?: unknown,
): Promise<Answer> {
  const response = await ask(path, { method, ...asJson(body) });
  return (response.status === 204 ? undefined : await response.json().catch(cutOff)) as Answer;
}

export const post = <Answer = unknown>(path: string, body: unknown = {}): Promise<Answer> =>
  call<Answer>("POST", path, body);

export async function upload<Answer>(
  path: string,
  body: FormData,
  sent: (part: number) => void,
): Promise<Answer> {
  const request = new XMLHttpRequest();
  request.open("POST", `account/${path}`);
  request.upload.onprogress = ({ loaded, total }) => sent(loaded / total);
  request.responseType = "blob";
  const response = await new Promise<Response>((resolve, reject) => {
    request.onload = () => {
      const session = request.getResponseHeader("x-session") ?? "";
      const more = { status: request.status, headers: { "x-session": session } };
      resolve(new Response(request.response as Blob, more));
    };
    request.onerror = () => reject(new ApiFault(0, NO_ANSWER));
    request.send(body);
  });
  return (await (await checked(response)).json()) as Answer;
}

export const remove = (path: string): Promise<unknown> => call("DELETE", path);

/** Checks one entry for one unit. `take` gets the core facts first and the whole result last, each as soon as it is there. */
export async function checkEntry(
  entry: string,
  take: (step: CheckStep) => void,
  signal: AbortSignal,
): Promise<void> {
  const order = asJson({ entry, features: ["all"] });
  const response = await ask("check", { method: "POST", ...order, signal });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (let isDone = reader === undefined; !isDone;) {
    const chunk = await reader?.read().catch(cutOff);
    isDone = chunk?.done !== false;
    const lines = (rest + (chunk?.value ?? "")).split("\n");
    rest = isDone ? "" : (lines.pop() ?? "");
    for (const line of lines) if (line !== "") take(stepOf(JSON.parse(line) as CheckStep));
  }
}

const INTERNAL = "Internal error.";

/** The server puts what goes wrong on the way into a last line of its own. */
function stepOf(value: CheckStep): CheckStep {
  const { error } = Object(value) as { error?: string };
  if (error === INTERNAL) throw new ApiFault(500, STATUS_WORDS[500] ?? error);
  if (error !== undefined) throw new ApiFault(503, error);
  return value;
}

export const faultText = (error: unknown): string =>
  error instanceof ApiFault ? error.message : "Something went wrong in this page. Reload it.";

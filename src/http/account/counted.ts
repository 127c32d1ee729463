import type { Clock } from "../../base/clock.ts";
import type { Entrance, Admission } from "../../accounts/admission/admission.ts";
import { Refusal } from "../../base/refusals.ts";
import type { UsageRecorder } from "../../accounts/admission/usage-recorder.ts";
import type { AccountReply, AccountRequest } from "./route.ts";

export interface CountedDeps {
  readonly admission: Pick<Admission, "enter" | "enterAs">;
  readonly requests: Pick<UsageRecorder, "record">;
  readonly clock: Pick<Clock, "nowMs" | "monotonicMs">;
}

const NO_KEY = { apiKey: [], authorization: [] };

/**
 * Lets the account in as its key would be, and a visitor as an anonymous caller, and counts the request in its charts as the API counts one: with its
 * time to the last octet, and as refused for any refusal below 500.
 */
export async function counted<Reply extends object>(
  { account, visitor }: Pick<AccountRequest, "account" | "visitor">,
  { admission, requests, clock }: CountedDeps,
  work: (entrance: Entrance) => Promise<Reply>,
): Promise<Reply> {
  const startMs = clock.monotonicMs();
  const { clientAddress } = visitor;
  const entrance =
    account === undefined
      ? await admission.enter(NO_KEY, clientAddress)
      : await admission.enterAs(account, clientAddress);
  const ended = (fault?: unknown): void => {
    const isRefused = fault instanceof Refusal && fault.status < 500;
    requests.record(entrance.caller, { isRefused, latencyMs: clock.monotonicMs() - startMs });
  };
  try {
    if (entrance.refusal !== undefined) throw entrance.refusal;
    const reply = await work(entrance);
    const { lines }: AccountReply = reply;
    if (lines !== undefined) return { ...reply, lines: watched(lines, ended) };
    ended();
    return reply;
  } catch (fault) {
    ended(fault);
    throw fault;
  }
}

/** The same values; `ended` is called once, also when the client stops reading. */
async function* watched(
  lines: AsyncIterable<unknown>,
  ended: (fault?: unknown) => void,
): AsyncGenerator<unknown> {
  let fault: unknown;
  try {
    yield* lines;
  } catch (thrown) {
    fault = thrown;
    throw thrown;
  } finally {
    ended(fault);
  }
}

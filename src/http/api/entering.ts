import type { Admission, Credentials, Entrance } from "../../accounts/admission/admission.ts";
import type { Clock } from "../../base/clock.ts";
import { inTime } from "../../base/in-time.ts";
import { Refusal } from "../../base/refusals.ts";
import { storeDownOf } from "../../base/store-down.ts";
import type { FaultLog } from "../answer/fault-log.ts";
import type { HttpRequest, Route } from "../answer/route.ts";
import type { ReadTerms } from "../request/body/body.ts";
import { clientAddress, type TrustedProxies } from "../request/client-address.ts";

interface EnteringDeps {
  readonly admission: Pick<Admission, "unidentified" | "charge">;
  readonly clock: Pick<Clock, "after">;
  readonly faultLog: FaultLog;
}

interface Entering {
  /** See `Call`, which imports from here. */
  readonly call: { settleLate?: (isServed: boolean) => void };
  readonly deadlineMs: number;
  readonly address: string;
  readonly credentials: Credentials;
}

/** What the decision itself takes after that, without DNS. */
const DECIDE_MS = 25;

/** A store that is slow or away must not hold up a sign-up: the caller is then an anonymous one. */
export async function inDeadline(
  entering: Promise<Entrance>,
  { call, deadlineMs, address, credentials }: Entering,
  { admission, clock, faultLog }: EnteringDeps,
): Promise<Entrance> {
  const timeoutMs = Math.max(0, deadlineMs - DECIDE_MS);
  const told = (error: unknown): void => {
    if (!(error instanceof Refusal)) faultLog(error, { method: "POST", route: "decide" });
  };
  let why: "late" | "away" = "late";
  try {
    const entrance = await inTime(entering, { timeoutMs, late: undefined, clock });
    if (entrance !== undefined) return entrance;
    call.settleLate = (isServed) => {
      entering
        .then((late) => settled(late, isServed, admission))
        .catch((error: unknown) => told(error));
    };
  } catch (error) {
    if (storeDownOf(error) === undefined) throw error;
    told(error);
    why = "away";
  }
  return admission.unidentified(credentials, address, why);
}

/** The rate was counted when the caller became known; whoever was refused, by either name, is charged nothing. */
async function settled(
  entrance: Entrance,
  isServed: boolean,
  admission: Pick<Admission, "charge">,
): Promise<void> {
  if (isServed && entrance.refusal === undefined) await admission.charge(entrance, 1);
  else await entrance.advance?.release();
}

/** Who asks, by the first address that is no trusted proxy. */
export function addressOf(
  { headers, socket }: HttpRequest,
  { trustedProxies }: { readonly trustedProxies: TrustedProxies },
): string {
  const forwardedFor = oneLine(headers["x-forwarded-for"]);
  return clientAddress(socket.remoteAddress, forwardedFor, trustedProxies);
}

const oneLine = (value: string | string[] | undefined): string | undefined =>
  typeof value === "string" ? value : value?.join(",");

/** Of a body that is read before its sender is known: a batch of 200 addresses in JSON fits. */
const EARLY_MAX_BYTES = 65_536;
/** Larger, so that an address which is far too long is refused for its format by callers that fail open. */
const DECIDE_MAX_BYTES = 1_048_576;

export function bodyTerms({
  foreign,
  deadlineMs,
}: Route): Pick<ReadTerms, "maxBytes" | "takesText"> {
  if (foreign !== undefined) return { maxBytes: EARLY_MAX_BYTES, takesText: true }; // official clients declare other types
  return deadlineMs === undefined ? {} : { maxBytes: DECIDE_MAX_BYTES };
}

import type { CountBy, DecideOptions, Gatepost } from "./client.ts";
import { type Decision, MALFORMED_MESSAGE } from "./results.ts";
import { trimEmail } from "./token.ts";

export interface GuardOptions<Request = unknown> extends Omit<DecideOptions, "signal" | "countBy"> {
  /** Of the request: `({ ip }) => ({ ip })`, where the framework knows the visitor's address: docs/guides/crowds.md. */
  readonly countBy?: (request: Request) => CountBy | Promise<CountBy>;
  /** The form's field with the address: "email" unless set. */
  readonly field?: string;
  /** The field that says "yes, this is my address" after a challenge: "confirmed" unless set. */
  readonly confirmedField?: string;
}

/** What the person at the form gets in place of an account. */
export interface Stop {
  readonly error: string;
  readonly decision: "challenge" | "reject";
  readonly reason: string;
  readonly did_you_mean?: string;
}

export interface Guarded {
  /** Absent: the form has no address, and the application's own check says so. */
  readonly decision?: Decision;
  /** Absent: go on. */
  readonly stop?: Stop;
}

export const STOP_STATUS = 422;

const MALFORMED: Stop = { error: MALFORMED_MESSAGE, decision: "reject", reason: "format" };

/**
 * Decides on the address of a form. `reject` stops it, and `challenge` until the person confirms the address.
 * `language` is the Accept-Language header, where the options name none.
 */
export async function guardForm<Request>(
  gatepost: Pick<Gatepost, "decide">,
  form: (field: string) => unknown,
  { field = "email", confirmedField = "confirmed", countBy, ...asked }: GuardOptions<Request>,
  request: Request,
  language?: unknown,
): Promise<Guarded> {
  const email = form(field) ?? "";
  if (typeof email !== "string") return { stop: MALFORMED };
  if (trimEmail(email) === "") return {};
  const confirmed = isSet(form(confirmedField));
  const decision = await gatepost.decide(email, {
    ...(typeof language === "string" && { language }),
    ...(confirmed && { confirmed }),
    countBy: await countBy?.(request),
    ...asked,
  });
  const stop = stopOf(decision, confirmed);
  return { decision, ...(stop !== undefined && { stop }) };
}

function stopOf(given: Decision, isConfirmed: boolean): Stop | undefined {
  const { decision, reason, message, did_you_mean: meant } = given;
  if (decision === "accept" || decision === "review") return undefined;
  if (decision === "challenge" && isConfirmed) return undefined;
  const error = message ?? "Please use another email address.";
  return { error, decision, reason, ...(meant !== undefined && { did_you_mean: meant }) };
}

const isSet = (value: unknown): boolean => ![undefined, null, "", false].includes(value as never);

export const formOf =
  (body: unknown) =>
  (field: string): unknown =>
    typeof body === "object" && body !== null && Object.hasOwn(body, field)
      ? (body as Readonly<Record<string, unknown>>)[field]
      : undefined;

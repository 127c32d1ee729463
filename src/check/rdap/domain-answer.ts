import type { Answer, Registration, Unknown } from "../../core/mail/lookup.ts";
import { eventDateMs } from "./event-date.ts";

const MALFORMED: Unknown = { kind: "unknown", why: "malformed" };

/** The JSON value of UTF-8 octets; undefined if they are not JSON. */
export function readJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * The event "registration" of an RDAP domain object (RFC 9083 sections 4.5 and 5.3). Everything else in it,
 * contact data above all, is dropped. No such event is `absent`; an answer about another
 * name, or for another object than a domain, is `unknown`.
 */
export function readDomainAnswer(body: Uint8Array, domain: string): Answer<Registration> {
  const object = readJson(body);
  if (!isRecord(object) || object["objectClassName"] !== "domain") return MALFORMED;
  if (!isAbout(object["ldhName"], domain)) return MALFORMED;
  const events = object["events"];
  if (events !== undefined && !Array.isArray(events)) return MALFORMED;
  const event = (events ?? []).find(isRegistrationEvent);
  if (event === undefined) return { kind: "absent", why: "noData" };
  const registeredAtMs =
    typeof event.eventDate === "string" ? eventDateMs(event.eventDate) : undefined;
  return registeredAtMs === undefined
    ? MALFORMED
    : { kind: "found", records: [{ registeredAtMs }] };
}

/** RFC 9083 section 3 makes `ldhName` optional; any case and a last dot are allowed to it. */
function isAbout(ldhName: unknown, domain: string): boolean {
  if (ldhName === undefined) return true;
  return typeof ldhName === "string" && ldhName.toLowerCase().replace(/\.$/, "") === domain;
}

function isRegistrationEvent(value: unknown): value is { readonly eventDate?: unknown } {
  if (!isRecord(value)) return false;
  const action = value["eventAction"];
  return typeof action === "string" && action.toLowerCase() === "registration";
}

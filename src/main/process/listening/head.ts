import type { IncomingMessage } from "node:http";
import { badRequest, headersTooLarge, type Refusal } from "../../../base/refusals.ts";

/** What the listener looks at of a request before it is begun. */
export interface Head {
  /** Absent: it is served. */
  readonly refusal?: Refusal;
  readonly isChunked: boolean;
  /** Node's parser spends on it what it spends on several ordinary requests. */
  readonly isLong: boolean;
  /** It costs as much as several ordinary requests, and keeps its target in memory while it waits. */
  readonly hasLongTarget: boolean;
  /** Requests of ordinary size that it costs as much as, 1 or more. */
  readonly weight: number;
  /** Of its target and its fields, as they are counted against their limit. */
  readonly octets: number;
}

/**
 * Names and values of all header fields, and 32 octets for each of them, as HTTP/2 counts them: thousands
 * of empty ones cost as much as a few long ones.
 */
const FIELDS_MAX_OCTETS = 16_384;
const FIELD_OCTETS = 32;

/** Browsers behind two proxies send up to 40. */
const LONG_FIELDS = 100;

/** No single check has as much. */
const LONG_TARGET = 16_384;

/** Of the target: reading a path or query of 64 KiB costs as much as about 16 requests. */
const TARGET_WEIGHT_OCTETS = 4_096;

/** A small file is taken apart, handed to a thread and stored: 1 ms, with the list that it becomes. */
const MULTIPART_WEIGHT = 8;

export function headOf({ httpVersion, rawHeaders, url = "" }: IncomingMessage): Head {
  const { hosts, octets: fields, isChunked, isMultipart } = fieldsOf(rawHeaders);
  const isLong = rawHeaders.length > 2 * LONG_FIELDS || url.length > LONG_TARGET;
  const targetWeight = Math.floor(url.length / TARGET_WEIGHT_OCTETS);
  const weight = targetWeight + (isMultipart ? MULTIPART_WEIGHT : 1);
  const hasLongTarget = targetWeight > 0;
  const head = { isChunked, isLong, hasLongTarget, weight, octets: fields + url.length };
  if (fields > FIELDS_MAX_OCTETS) return { ...head, refusal: headersTooLarge() };
  // HTTP/1.1 needs one Host, and no more (RFC 9112 section 3.2). Node keeps only the first of several.
  const hasOneHost = hosts === 1 || (hosts === 0 && httpVersion === "1.0");
  return hasOneHost ? head : { ...head, refusal: badRequest() };
}

/** `rawHeaders`: names and values in turns. */
function fieldsOf(rawHeaders: readonly string[]) {
  let hosts = 0;
  let octets = 0;
  let isChunked = false;
  let isMultipart = false;
  rawHeaders.forEach((text, at) => {
    octets += text.length + FIELD_OCTETS / 2;
    if (at % 2 === 1) return;
    if (text.length === 12 && text.toLowerCase() === "content-type") {
      isMultipart = rawHeaders[at + 1]?.startsWith("multipart/") === true;
    }
    if (text.length === 4 && text.toLowerCase() === "host") hosts += 1;
    if (text.length === 17 && text.toLowerCase() === "transfer-encoding") isChunked = true;
  });
  return { hosts, octets, isChunked, isMultipart };
}

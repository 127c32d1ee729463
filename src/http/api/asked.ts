import type { ApiRequest, Handling, Route } from "../answer/route.ts";
import { decodeSegment } from "../request/target.ts";

const PREFIX = "/api/";
const COMPAT = "/compat/";

/** The segment behind `/api/`, "compat/SERVICE" behind `/compat/`; "" for `/api` itself. */
export function familyOf(path: string): string {
  const isCompat = path.startsWith(COMPAT);
  const end = path.indexOf("/", isCompat ? COMPAT.length : PREFIX.length);
  return path.slice(isCompat ? 1 : PREFIX.length, end < 0 ? path.length : end);
}

/** The path behind the family, and how its route answers it. */
export interface Asked {
  readonly path: ApiRequest["path"];
  readonly handling: Handling;
}

export function readAsked(path: string, route: Route): Asked {
  const segments = segmentsOf(path, route.family);
  return { path: segments, handling: "read" in route ? route.read(segments) : route };
}

function segmentsOf(path: string, family: string): ApiRequest["path"] {
  const start = (path.startsWith(COMPAT) ? 1 : PREFIX.length) + family.length + 1;
  const end = path.endsWith("/") ? path.length - 1 : path.length;
  if (start >= end) return NO_SEGMENTS;
  const rest = path.slice(start, end);
  return rest.includes("/")
    ? rest.split("/", SEGMENTS_MAX + 1).map(decodeSegment)
    : [decodeSegment(rest)];
}

/** Segments of a path that are read; a path with more is refused. Those of a target of 64 KiB would take 10 ms. */
export const SEGMENTS_MAX = 1_000;

const NO_SEGMENTS: readonly string[] = [];

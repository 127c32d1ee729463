import { isHostName, parseDomain } from "../../core/name/domain.ts";

const PLAIN = /^[a-z0-9.-]+$/;

/** The name on a line of a list as it is looked up, in A-labels; undefined if it is not a domain name. */
export function domainOfLine(line: string): string | undefined {
  // Nearly all lines are plain, and need no look at the public suffix list.
  if (PLAIN.test(line)) return isHostName(line) ? line : undefined;
  const parsed = parseDomain(line);
  return parsed.ok ? parsed.value.name : undefined;
}

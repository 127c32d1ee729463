import type { Trouble } from "../../base/health.ts";
import type { Finding } from "../../cli/commands/doctor.ts";

/** What is looked at; each has a heading of this name in `PAGE`. */
export const NAMES = [
  "settings",
  "program",
  "public URL",
  "proxy",
  "HTTPS_PROXY",
  "HTTP_PROXY",
  "service",
  "memory",
  "disk",
  "database",
  "pooler",
  "secret key",
  "schema",
  "ledger",
  "clock",
  "workers",
  "feeds",
  "resolver",
  "time",
] as const;

const PAGE = "docs/operations/troubleshooting.md";

export type Inspection = string | Trouble;

export const wrong = (says: string, toDo: string): Trouble => ({ says, toDo });

export const note = (says: string, toDo: string): Trouble => ({ says, toDo, isWarning: true });

export function finding(name: (typeof NAMES)[number], found: Inspection): Finding {
  if (typeof found === "string") return { name, state: "ok", says: found };
  const { says, toDo, isWarning = false } = found;
  const heading = name.toLowerCase().replaceAll(" ", "-");
  return {
    name,
    state: isWarning ? "note" : "wrong",
    says,
    toDo: `${toDo} See ${PAGE}#${heading}.`,
  };
}

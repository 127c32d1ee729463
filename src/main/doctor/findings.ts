import type { Finding } from "../../cli/commands/doctor.ts";

/** What is looked at; each has a heading of this name in `PAGE`. */
export const NAMES = [
  "settings",
  "program",
  "public URL",
  "proxy",
  "HTTPS_PROXY",
  "HTTP_PROXY",
  "memory",
  "disk",
  "database",
  "pooler",
  "schema",
  "ledger",
  "clock",
  "workers",
  "feeds",
  "resolver",
  "time",
] as const;

const PAGE = "docs/operations/troubleshooting.md";

type Name = (typeof NAMES)[number];

export const ok = (name: Name, says: string): Finding => ({ name, state: "ok", says });

const fault =
  (state: "note" | "wrong") =>
  (name: Name, says: string, toDo: string): Finding => ({
    name,
    state,
    says,
    toDo: `${toDo} See ${PAGE}#${name.toLowerCase().replaceAll(" ", "-")}.`,
  });

/** Worth knowing. */
export const note = fault("note");

/** Needs repair. */
export const wrong = fault("wrong");

const MB = 1_048_576;

export const megabytes = (bytes: number): string =>
  bytes >= 10_240 * MB
    ? `${Math.round(bytes / MB / 1_024).toLocaleString("en-US")} GB`
    : `${Math.round(bytes / MB).toLocaleString("en-US")} MB`;

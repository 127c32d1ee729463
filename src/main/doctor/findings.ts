import type { Finding } from "../../cli/commands/doctor.ts";

/** What is looked at, and the page that answers a fault of it. */
export const PAGES = {
  settings: "docs/configuration.md",
  program: "docs/operations/install.md",
  "public URL": "docs/operations.md",
  proxy: "docs/operations.md",
  HTTPS_PROXY: "docs/configuration.md",
  HTTP_PROXY: "docs/configuration.md",
  memory: "docs/operations/sizing.md",
  disk: "docs/operations/sizing.md",
  database: "docs/operations/install.md",
  pooler: "docs/operations/install.md",
  schema: "docs/operations/upgrade.md",
  ledger: "docs/operations/back-up.md",
  clock: "docs/operations/back-up.md",
  workers: "docs/operations.md",
  feeds: "docs/detection.md",
  resolver: "docs/operations/dns.md",
  time: "docs/operations.md",
} as const;

type Name = keyof typeof PAGES;

export const ok = (name: Name, says: string): Finding => ({ name, state: "ok", says });

const fault =
  (state: "note" | "wrong") =>
  (name: Name, says: string, toDo: string): Finding => ({
    name,
    state,
    says,
    toDo: `${toDo} See ${PAGES[name]}.`,
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

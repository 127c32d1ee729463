import type { Finding } from "../../cli/commands/doctor.ts";

export const ok = (name: string, says: string): Finding => ({ name, state: "ok", says });

export const note = (name: string, says: string, toDo: string): Finding => ({
  name,
  state: "note",
  says,
  toDo,
});

export const wrong = (name: string, says: string, toDo: string): Finding => ({
  name,
  state: "wrong",
  says,
  toDo,
});

const MB = 1_048_576;

export const megabytes = (bytes: number): string =>
  bytes >= 10_240 * MB
    ? `${Math.round(bytes / MB / 1_024).toLocaleString("en-US")} GB`
    : `${Math.round(bytes / MB).toLocaleString("en-US")} MB`;

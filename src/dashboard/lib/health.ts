import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { HealthState } from "../../http/account/shapes.ts";
import { type Loading, useLoad, usePolling } from "./load.ts";
import { path } from "./router.ts";
import { announce } from "./state.ts";

export type Broken = HealthState["broken"][number];

/** What is broken on this server, which its operator sees on every page. Without a value nobody knows. */
export const health = signal<Loading<HealthState>>({ fault: "", isGone: false, reload() {} });

/** How a part is: as it should be, not looked at by this server, or not known. */
export function stateOf(name: Broken["part"]): Broken | "well" | "absent" | "unknown" {
  const { value, fault } = health.value;
  if (value === undefined || fault !== "") return "unknown";
  const broken = value.broken.find(({ part }) => part === name);
  return broken ?? (value.parts.includes(name) ? "well" : "absent");
}

export function HealthWatch(): null {
  const loading = useLoad<HealthState>("admin/health");
  const { value, fault, reload } = loading;
  usePolling(true, reload, path.value === "admin/system" ? 10_000 : 30_000);
  useEffect(() => void (health.value = loading), [value, fault]);
  const said = value?.broken.map(({ says }) => says).join(" ") ?? "";
  useEffect(() => {
    if (said !== "") announce(said);
  }, [said]);
  return null;
}

import { type Evidence, evidence } from "./signals.ts";
import { FREE_REGISTRIES } from "../tables/free-registries.ts";

/** `free_registry_suffix` when `name` lies below a registry of free names; the registry itself does not. */
export function freeRegistryEvidence(name: string): Evidence | undefined {
  const last = name.lastIndexOf(".");
  const second = last > 0 ? name.lastIndexOf(".", last - 1) : -1;
  if (second < 0) return undefined;
  const registry = name.slice(second + 1);
  return FREE_REGISTRIES.has(registry)
    ? evidence("free_registry_suffix", { subject: registry })
    : undefined;
}

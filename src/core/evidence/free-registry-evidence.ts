import { type Evidence, evidence } from "./signals.ts";
import { FREE_REGISTRIES, WEAK_REGISTRIES } from "../tables/free-registries.ts";

/** Below a registry that honest people use too: a doubt that a young domain alone does not turn into a verdict. */
const AT_WEAK_REGISTRY = 0.25;

/** `free_registry_suffix` when `name` lies below a registry of free names; the registry itself does not. */
export function freeRegistryEvidence(name: string): Evidence | undefined {
  const last = name.lastIndexOf(".");
  const second = last > 0 ? name.lastIndexOf(".", last - 1) : -1;
  if (second < 0) return undefined;
  const registry = name.slice(second + 1);
  const isWeak = WEAK_REGISTRIES.has(registry);
  if (!isWeak && !FREE_REGISTRIES.has(registry)) return undefined;
  const piece = evidence("free_registry_suffix", { subject: registry });
  return isWeak ? { ...piece, weight: AT_WEAK_REGISTRY } : piece;
}

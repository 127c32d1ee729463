import { spawnSync } from "node:child_process";

export const PUBLIC_V4 = "198.51.101.7";
export const PUBLIC_V6 = "2a02:4f8:17::7";

const ip = (...words: readonly string[]): boolean => spawnSync("ip", words).status === 0;

/**
 * A network namespace without external network, whose loopback has public and non-public addresses. Run programs in it
 * by `ip netns exec`. False where that is not permitted.
 */
export function makeNamespace(name: string): boolean {
  if (!ip("netns", "add", name)) return false;
  const inside = ["-n", name] as const;
  const made =
    ip(...inside, "link", "set", "lo", "up") &&
    [PUBLIC_V4, "10.0.0.1", "169.254.169.254", "100.64.0.1"].every((address) =>
      ip(...inside, "addr", "add", `${address}/32`, "dev", "lo"),
    ) &&
    [PUBLIC_V6, "fd00::1"].every((address) =>
      ip(...inside, "-6", "addr", "add", `${address}/128`, "dev", "lo", "nodad"),
    );
  if (!made) removeNamespace(name);
  return made;
}

export function removeNamespace(name: string): void {
  ip("netns", "del", name);
}

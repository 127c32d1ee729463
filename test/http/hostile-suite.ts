import fc from "fast-check";
import { bytesOf, type HostileRequest, hostileRequests } from "./hostile-requests.ts";
import { testServer } from "./http-server.ts";
import { rawClient } from "./raw-http.ts";
import { readAny } from "./strict-client.ts";

/** The four endpoints of single checks. */
export const ENDPOINTS = [
  ["GET", "email"],
  ["POST", "email"],
  ["GET", "domain"],
  ["POST", "domain"],
] as const;

const CONNECTIONS = 4;
/** Requests made and held at a time. */
const PORTION = 2_000;

/**
 * Sends generated requests of one endpoint through a real listener and reads every answer with the strict
 * client. Returns the number of answers by status; throws with the first wrongly answered request.
 */
export async function sendHostile(
  [method, family]: (typeof ENDPOINTS)[number],
  count: number,
  seed: number,
): Promise<ReadonlyMap<number, number>> {
  const server = await testServer();
  const statuses = new Map<number, number>();
  try {
    for (let sent = 0; sent < count; sent += PORTION) {
      const numRuns = Math.min(PORTION, count - sent);
      const requests = fc.sample(hostileRequests(method, family), { numRuns, seed: seed + sent });
      const lanes = Array.from({ length: CONNECTIONS }, (_, lane) =>
        requests.filter((__, at) => at % CONNECTIONS === lane),
      );
      const answered = await Promise.all(lanes.map((lane) => sendLane(server.port, lane, family)));
      for (const status of answered.flat()) statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  } finally {
    await server.stop();
  }
  return statuses;
}

async function sendLane(
  port: number,
  requests: readonly HostileRequest[],
  family: "email" | "domain",
): Promise<readonly number[]> {
  const client = rawClient(port);
  const statuses: number[] = [];
  try {
    for (const request of requests) {
      const bytes = bytesOf(request);
      client.write(bytes);
      try {
        statuses.push(readAny(await client.answer(), family));
      } catch (cause) {
        throw new Error(`answered wrong: ${bytes.toString("latin1")}`, { cause });
      }
    }
  } finally {
    client.destroy();
  }
  return statuses;
}

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { bytesOf, type HostileRequest, hostileRequests } from "../../test/http/hostile-requests.ts";
import { echoingCheck } from "../../test/http/http-app.ts";
import { testServer } from "../../test/http/http-server.ts";
import { rawClient } from "../../test/http/raw-http.ts";
import { type Answered, readAny } from "../../test/http/strict-client.ts";
import { manualClock } from "../../test/time/manual-clock.ts";
import { compatRoutes, SHAPES } from "./compat/services.ts";
import type { Shape } from "./compat/shape.ts";
import type { Route } from "./route.ts";
import { effort } from "../../test/process/effort.ts";

/** Requests of an endpoint and of a shape; HOSTILE_REQUESTS=100000 and COMPAT_REQUESTS=10000 send more. */
const COUNT = Number(process.env["HOSTILE_REQUESTS"] ?? effort(500, 4_000));
const COMPAT_COUNT = Number(process.env["COMPAT_REQUESTS"] ?? effort(100, 400));

const CONNECTIONS = 4;
/** Requests that are made and kept at a time. */
const PORTION = 2_000;

interface Suite {
  readonly requests: fc.Arbitrary<HostileRequest>;
  readonly count: number;
  readonly seed: number;
  /** Throws for a wrong answer. */
  readonly read: (answer: Answered) => void;
  readonly routes: readonly Route[];
}

/** Sends generated requests through a real listener; returns the number of answers by status. */
async function sendHostile(suite: Suite): Promise<ReadonlyMap<number, number>> {
  const server = await testServer({ routes: suite.routes });
  try {
    return await sendTo(server.port, suite);
  } finally {
    await server.stop();
  }
}

async function sendTo(
  port: number,
  { requests, count, seed, read }: Suite,
): Promise<ReadonlyMap<number, number>> {
  const statuses = new Map<number, number>();
  const sendLane = async (lane: readonly HostileRequest[]): Promise<void> => {
    const client = rawClient(port);
    for (const request of lane) {
      const bytes = bytesOf(request);
      client.write(bytes);
      try {
        const answer = await client.answer();
        read(answer);
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      } catch (cause) {
        client.destroy();
        throw new Error(`answered wrong: ${bytes.toString("latin1")}`, { cause });
      }
    }
    client.destroy();
  };
  for (let sent = 0; sent < count; sent += PORTION) {
    const numRuns = Math.min(PORTION, count - sent);
    const made = fc.sample(requests, { numRuns, seed: seed + sent });
    const lanes = Array.from({ length: CONNECTIONS }, (_, lane) =>
      made.filter((__, at) => at % CONNECTIONS === lane),
    );
    await Promise.all(lanes.map(sendLane));
  }
  return statuses;
}

for (const [method, family] of [
  ["GET", "email"],
  ["POST", "email"],
  ["GET", "domain"],
  ["POST", "domain"],
] as const) {
  test(`${method} ${family}: generated requests get a result or a clear refusal`, async () => {
    const requests = hostileRequests(method, family);
    const read = (answer: Answered): void => void readAny(answer, family);
    const statuses = await sendHostile({ requests, count: COUNT, seed: 2, read, routes: [] });
    assert.ok((statuses.get(200) ?? 0) > COUNT / 4, "many of them are checked");
    assert.ok((statuses.get(400) ?? 0) > 0, "some of them are refused");
  });
}

/** Generated requests for /api/email, sent to an endpoint of the shape with its own names of parameters. */
function requestsOf({ service, parameters, endpoints }: Shape): fc.Arbitrary<HostileRequest> {
  const base = `/compat/${service}`;
  const paths = endpoints.flatMap(({ paths: all }) => all.map((path) => path.replace("*", "x")));
  const place = fc.record({
    path: fc.constantFrom("", ...paths),
    name: fc.constantFrom("email", ...parameters),
    request: fc.oneof(hostileRequests("GET", "email"), hostileRequests("POST", "email")),
  });
  const plain = place.map(({ path, name }) => ({
    method: "GET" as const,
    headers: {},
    payload: Buffer.alloc(0),
    target: `${base}/${path}?${name}=jo@x.example`,
  }));
  const broken = place.map(({ path, name, request }) => {
    const target = request.target.replace("/api/email", `${base}/${path}`);
    const payload = request.payload.toString("latin1").replaceAll("email", name);
    return {
      ...request,
      target: target.replaceAll("?email", `?${name}`),
      payload: Buffer.from(payload, "latin1"),
    };
  });
  return fc.oneof({ weight: 1, arbitrary: plain }, { weight: 7, arbitrary: broken });
}

function readCompat({ status, headers, body }: Answered): void {
  assert.ok(status < 500, String(status));
  if (headers["content-type"]?.startsWith("application/json") === true) JSON.parse(body);
}

for (const [at, shape] of SHAPES.entries()) {
  test(`/compat/${shape.service}: generated requests, none of them a 5xx`, async () => {
    const deps = {
      checkOne: echoingCheck,
      admission: { spend: () => undefined },
      unitsLeft: () => Promise.resolve(7),
      clock: manualClock(),
      isOptimistic: false,
    };
    const routes = compatRoutes(deps);
    const suite = { requests: requestsOf(shape), count: COMPAT_COUNT, seed: at, read: readCompat };
    const statuses = await sendHostile({ ...suite, routes });
    assert.ok((statuses.get(200) ?? 0) > 0, "some of them are answered");
  });
}

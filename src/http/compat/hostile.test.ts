import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { bytesOf, hostileRequests } from "../../../test/http/hostile-requests.ts";
import { echoingCheck } from "../../../test/http/http-app.ts";
import { testServer } from "../../../test/http/http-server.ts";
import { rawClient } from "../../../test/http/raw-http.ts";
import { manualClock } from "../../../test/time/manual-clock.ts";
import { compatRoutes, SHAPES } from "./services.ts";
import type { Shape } from "./shape.ts";

/** Requests a shape; `COMPAT_REQUESTS=10000` for more. */
const COUNT = Number(process.env["COMPAT_REQUESTS"] ?? 200);

/** Generated requests for /api/email, sent to an endpoint of the shape with its own names of parameters. */
function requestsOf({ parameters, endpoints }: Shape, base: string): fc.Arbitrary<Buffer> {
  const paths = endpoints.flatMap(({ paths: all }) => all.map((path) => path.replace("*", "x")));
  const place = fc.record({
    path: fc.constantFrom("", ...paths),
    name: fc.constantFrom("email", ...parameters),
    request: fc.oneof(hostileRequests("GET", "email"), hostileRequests("POST", "email")),
  });
  const plain = place.map(({ path, name }) =>
    bytesOf({
      method: "GET",
      headers: {},
      payload: Buffer.alloc(0),
      target: `${base}/${path}?${name}=jo@x.example`,
    }),
  );
  const broken = place.map(({ path, name, request }) => {
    const target = request.target.replace("/api/email", `${base}/${path}`);
    const payload = request.payload.toString("latin1").replaceAll("email", name);
    return bytesOf({
      ...request,
      target: target.replaceAll("?email", `?${name}`),
      payload: Buffer.from(payload, "latin1"),
    });
  });
  return fc.oneof({ weight: 1, arbitrary: plain }, { weight: 7, arbitrary: broken });
}

for (const [at, shape] of SHAPES.entries()) {
  const base = `/compat/${shape.service}`;
  test(`${base}: ${String(COUNT)} generated requests, none of them a 5xx`, async () => {
    const unitsLeft = () => Promise.resolve(7);
    const admission = { spend: () => undefined };
    const deps = {
      checkOne: echoingCheck,
      admission,
      unitsLeft,
      clock: manualClock(),
      isOptimistic: false,
    };
    const server = await testServer({ routes: compatRoutes(deps) });
    const client = rawClient(server.port);
    const statuses = new Map<number, number>();
    try {
      for (const bytes of fc.sample(requestsOf(shape, base), { numRuns: COUNT, seed: at })) {
        client.write(bytes);
        const { status, headers, body } = await client.answer();
        const asked = bytes.toString("latin1");
        assert.ok(status < 500, asked);
        if (headers["content-type"]?.startsWith("application/json") === true) JSON.parse(body);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    } finally {
      client.destroy();
      await server.stop();
    }
    assert.ok((statuses.get(200) ?? 0) > 0, "some of them are answered");
  });
}

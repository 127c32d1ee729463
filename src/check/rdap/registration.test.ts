import { strict as assert } from "node:assert";
import type { RequestListener } from "node:http";
import { test } from "node:test";
import { drip } from "../../../test/http/peer.ts";
import {
  registry,
  registeredOn,
  domainObject,
  short,
  patience,
} from "../../../test/rdap/registry-world.ts";

/** Members of the object of a domain, and what comes of them. */
const bodies: readonly (readonly [name: string, more: object, want: string])[] = [
  ["RFC 9083 section 4.5: the event registration is the date", {}, "1997-09-15T04:00:00.000Z"],
  [
    "RFC 9083 section 4.5: other events are not",
    {
      events: [
        { eventAction: "last changed", eventDate: "2020-01-01T00:00:00Z" },
        { eventAction: "reregistration", eventDate: "2021-01-01T00:00:00Z" },
        registeredOn("2001-02-03T00:00:00Z"),
        { eventAction: "expiration", eventDate: "2030-01-01T00:00:00Z" },
      ],
    },
    "2001-02-03T00:00:00.000Z",
  ],
  [
    "RFC 9083 section 4.5: of two registrations the older counts",
    {
      events: [
        { eventAction: "registration", eventDate: "2021-01-01T00:00:00Z" },
        { eventAction: "registration", eventDate: "1999-01-01T00:00:00Z" },
        { eventAction: "registration", eventDate: "some day" },
      ],
    },
    "1999-01-01T00:00:00.000Z",
  ],
  [
    "RFC 9083 section 4.5: eventDate may carry an offset",
    { events: [registeredOn("2001-02-03T00:00:00+02:00")] },
    "2001-02-02T22:00:00.000Z",
  ],
  [
    "RFC 9083 section 4.5: eventAction in another case still is the action",
    { events: [{ eventAction: "Registration", eventDate: "2001-02-03" }] },
    "2001-02-03T00:00:00.000Z",
  ],
  ["RFC 9083 section 4.5: no event of that name is no date", { events: [] }, "absent noData"],
  ["RFC 9083 section 4.5: events are optional", { events: undefined }, "absent noData"],
  [
    "RFC 9083 section 4.5: a date that is none says nothing",
    { events: [registeredOn("<b>1997</b>")] },
    "unknown malformed",
  ],
  [
    "RFC 9083 section 4.5: an event without a date says nothing",
    { events: [{ eventAction: "registration" }] },
    "unknown malformed",
  ],
  [
    "RFC 9083 section 4.5: events that are no array say nothing",
    { events: {} },
    "unknown malformed",
  ],
  [
    "RFC 9083 section 4.5: members of events that are no objects are passed over",
    { events: [null, 7, "x", [], registeredOn("1999-01-01")] },
    "1999-01-01T00:00:00.000Z",
  ],
  ["RFC 9083 section 3: ldhName is optional", { ldhName: undefined }, "1997-09-15T04:00:00.000Z"],
  [
    "RFC 9083 section 3: ldhName may have any case and a last dot",
    { ldhName: "A.EXAMPLE." },
    "1997-09-15T04:00:00.000Z",
  ],
  [
    "RFC 9083 section 5.3: an answer about another domain says nothing",
    { ldhName: "b.example" },
    "unknown malformed",
  ],
  [
    "RFC 9083 section 5.3: another object class is no domain",
    { objectClassName: "entity" },
    "unknown malformed",
  ],
  [
    "RFC 9083 section 5.3: no object class is no domain",
    { objectClassName: undefined },
    "unknown malformed",
  ],
  [
    "RFC 9083 section 2.1: unknown members are ignored",
    { x_extension: { a: [1] } },
    "1997-09-15T04:00:00.000Z",
  ],
];

for (const [name, more, want] of bodies) {
  test(name, async () => {
    const { registration } = await registry((_request, response) =>
      response.end(JSON.stringify(domainObject(more))),
    );
    assert.equal(short(await registration("a.example")), want);
  });
}

/** Answers each request with this. */
const says =
  (
    status: number,
    body: string | Buffer = "",
    headers: Record<string, string> = {},
  ): RequestListener =>
  (_, response) =>
    response.writeHead(status, headers).end(body);

const raw: readonly (readonly [name: string, listener: RequestListener, want: string])[] = [
  ["RFC 7480 section 5.3: 404 is no such domain", says(404), "absent noName"],
  ["RFC 7480 section 5.3: 404 with a page of HTML too", says(404, "<html>"), "absent noName"],
  ["RFC 7480 section 5.4: 400 says nothing of the domain", says(400), "unknown refused"],
  ["RFC 7480 section 5.5: 429 says nothing of the domain", says(429), "unknown refused"],
  ["RFC 9110 section 15.5.2: 401 says nothing of the domain", says(401), "unknown refused"],
  ["RFC 9110 section 15.6: 500 says nothing of the domain", says(500), "unknown servfail"],
  ["RFC 9110 section 15.3.5: 204 is no answer", says(204), "unknown refused"],
  [
    "RFC 7480 section 5.2: a redirect to an address that is not public is not followed",
    says(302, "", { location: "http://127.0.0.1/" }),
    "unknown refused",
  ],
  ["RFC 7480 section 5.2: a redirect without a target is no answer", says(301), "unknown refused"],
  [
    "RFC 8259: text that is no JSON says nothing",
    says(200, "<!doctype html>"),
    "unknown malformed",
  ],
  [
    "RFC 8259: JSON that is cut off says nothing",
    says(200, JSON.stringify(domainObject()).slice(0, -1)),
    "unknown malformed",
  ],
  [
    "RFC 8259 section 8.1: octets that are no UTF-8 say nothing",
    says(200, Buffer.from([0x7b, 0xff, 0x7d])),
    "unknown malformed",
  ],
  [
    "RFC 9083 section 6: an error object in a 200",
    says(200, '{"errorCode":500}'),
    "unknown malformed",
  ],
  ["RFC 8259 section 2: an array is no object", says(200, "[{}]"), "unknown malformed"],
  ["RFC 8259 section 2: null is no object", says(200, "null"), "unknown malformed"],
  ["an empty body says nothing", says(200), "unknown malformed"],
  [
    "a content coding nobody asked for says nothing",
    (_, response) =>
      response.writeHead(200, { "content-encoding": "gzip" }).end(Buffer.from([31, 139, 8, 0])),
    "unknown malformed",
  ],
  [
    "JSON nested a hundred thousand deep says nothing",
    says(200, "[".repeat(100_000)),
    "unknown malformed",
  ],
  [
    "a connection that breaks says nothing",
    (request) => request.socket.destroy(),
    "unknown network",
  ],
  ["a peer that never answers says nothing", () => undefined, "unknown timeout"],
  [
    "a body that drips past the total time says nothing",
    (_, response) => drip(response, " "),
    "unknown timeout",
  ],
];

for (const [name, listener, want] of raw) {
  test(name, async () => {
    const { registration } = await registry(listener, { timeoutMs: patience(want) });
    assert.equal(short(await registration("a.example")), want);
  });
}

test("RFC 9082 section 3.1.3 and RFC 7480 section 4.2: path and media type of the question", async () => {
  const seen: string[] = [];
  const { registration } = await registry((request, response) => {
    seen.push(`${request.method ?? ""} ${request.url ?? ""}`, request.headers.accept ?? "");
    response.end(JSON.stringify(domainObject({ ldhName: "xn--bcher-kva.example" })));
  });
  await registration("xn--bcher-kva.example");
  assert.deepEqual(seen, ["GET /domain/xn--bcher-kva.example", "application/rdap+json"]);
});

const hostileNames = [
  "",
  "a",
  "a.example\r\nx",
  "../a.example",
  "a.example/x",
  "A.EXAMPLE",
  "a..example",
  "ä.example",
  "a.example.",
];

test("what is no lower-case host name in A-labels is never asked", async () => {
  const { registration, peer } = await registry((_request, response) => response.end("{}"));
  for (const name of hostileNames.filter((each) => each !== "A.EXAMPLE")) {
    assert.equal(short(await registration(name)), "absent noName", name);
  }
  assert.equal(peer.connections(), 0);
});

const redirects: readonly (readonly [to: string, location: (own: string) => string])[] = [
  ["a loopback address", (own) => own],
  ["a name without an address", () => "http://gone.example/"],
  ["another scheme", () => "ftp://registry.example/"],
];

for (const [to, location] of redirects) {
  test(`one name's redirect to ${to} makes that name unavailable and no other`, async () => {
    const { registration, peer } = await registry((request, response) => {
      if (request.url === "/domain/bad.example") {
        response.writeHead(302, { location: location(`${peer.url}/x`) }).end();
      } else response.end(JSON.stringify(domainObject({ ldhName: "good.example" })));
    });
    assert.match(short(await registration("bad.example")), /^unknown /);
    assert.equal((await registration("good.example")).kind, "found");
  });
}

test("a registry is not asked for a name that nobody waits for any more", async () => {
  const { registration, peer } = await registry((_request, response) =>
    response.end(JSON.stringify(domainObject())),
  );
  const over = { isPast: true };
  assert.equal(short(await registration("a.example", undefined, over)), "unknown deadline");
  assert.equal(peer.connections(), 0);
  assert.equal((await registration("a.example")).kind, "found");
});

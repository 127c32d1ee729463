import fc from "fast-check";
import { anyCharacter } from "../process/any-character.ts";

/** Pieces that break parsers: encoded and raw, known names and nonsense. */
const PIECES = [
  ..."@ . / // + % %% %4 %40 %2F %2B %20 %00 %0a %0d%0a %ff %c3%28 %e2%82%ac %ed%a0%80 %u0041".split(
    " ",
  ),
  ..."? & = ; : # , [ ] { } ' ` ^ | ~ ! $ * ( )".split(" "),
  ..."email domain features bulk json mass spf dkim DMARC smtp catch_all deliverability".split(" "),
  ..."__proto__ constructor toString null undefined NaN true 1 0 -1 1e999".split(" "),
  ..."a ada x.example example.org localhost 127.0.0.1 [::1] xn-- xn--bcher-kva .. ../ ./".split(
    " ",
  ),
  '"',
  "\\",
  "<script>",
  "${x}",
  "a".repeat(300),
];

const text = fc
  .array(fc.constantFrom(...PIECES), { maxLength: 8 })
  .map((pieces) => pieces.join(""));

/** Characters that a client can send raw in a target: ASCII without blanks and controls. */
const target = text.map((value) => value.replace(/[^!-~]/g, ""));

const unicode = fc.string({ unit: anyCharacter, maxLength: 40 });

const json = fc.oneof(
  fc.json(),
  text,
  fc
    .record(
      {
        email: fc.oneof(unicode, fc.jsonValue(), fc.array(text, { maxLength: 3 })),
        domain: fc.oneof(unicode, fc.jsonValue()),
        features: fc.oneof(text, fc.jsonValue(), fc.array(text, { maxLength: 3 })),
        bulk: fc.oneof(fc.boolean(), fc.jsonValue()),
      },
      { requiredKeys: [] },
    )
    .map((value) => JSON.stringify(value)),
);

const form = fc
  .array(
    fc.tuple(
      fc.constantFrom("email", "domain", "features", "bulk", "json", "e%6dail", "", "x"),
      fc.constantFrom("=", "", "=="),
      fc.oneof(text, unicode),
    ),
    { maxLength: 5 },
  )
  .map((pairs) => pairs.map((pair) => pair.join("")).join("&"));

const bytes = fc.uint8Array({ maxLength: 60 }).map((value) => Buffer.from(value));

const TYPES = {
  form: "application/x-www-form-urlencoded",
  json: "application/json",
} as const;

const typed = fc.oneof(
  {
    weight: 3,
    arbitrary: form.map((payload) => ({
      type: TYPES.form as string,
      payload: Buffer.from(payload),
    })),
  },
  {
    weight: 3,
    arbitrary: json.map((payload) => ({
      type: TYPES.json as string,
      payload: Buffer.from(payload),
    })),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constantFrom(TYPES.form, TYPES.json, "text/plain", ";", ""),
      payload: bytes,
    }),
  },
);

const headers = fc.dictionary(
  fc.constantFrom(
    "x-forwarded-for",
    "x-api-key",
    "authorization",
    "accept",
    "origin",
    "cookie",
    "range",
  ),
  fc.oneof(target, fc.constantFrom("Bearer x", "192.0.2.1, ::1", "bytes=0-", "*/*")),
  { maxKeys: 3 },
);

export interface HostileRequest {
  readonly method: "GET" | "POST";
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: Buffer;
}

/** Requests of one endpoint: "GET /api/email", "POST /api/domain", ... */
export function hostileRequests(
  method: "GET" | "POST",
  family: "email" | "domain",
): fc.Arbitrary<HostileRequest> {
  const path = fc.oneof(
    fc.constant(""),
    fc
      .tuple(fc.constantFrom("/", "/x@y.example", "/%"), target)
      .map(([start, rest]) => start + rest),
  );
  const query = fc.oneof(
    fc.constant(""),
    target.map((value) => `?${value}`),
    form.map((value) => `?${encodeURI(value.replace(/[\ud800-\udfff]/g, ""))}`),
  );
  const place = fc.tuple(path, query).map(([at, asked]) => `/api/${family}${at}${asked}`);
  const body = method === "GET" ? fc.constant(NO_BODY) : typed;
  return fc.record({ place, headers, body }).map((request) => ({
    method,
    target: request.place,
    headers: {
      ...request.headers,
      ...(request.body.type === undefined ? {} : { "content-type": request.body.type }),
    },
    payload: request.body.payload,
  }));
}

const NO_BODY = { type: undefined, payload: Buffer.alloc(0) };

/** The request as sent on the wire. */
export function bytesOf({ method, target: place, headers: sent, payload }: HostileRequest): Buffer {
  const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = payload.length === 0 ? "" : `content-length: ${payload.length}\r\n`;
  const head = `${method} ${place} HTTP/1.1\r\nhost: a\r\n${lines.join("")}${length}\r\n`;
  return Buffer.concat([Buffer.from(head, "latin1"), payload]);
}

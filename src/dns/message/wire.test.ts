import { strict as assert } from "node:assert";
import { test } from "node:test";
import {
  aaaaData,
  aData,
  message,
  mxData,
  nameOctets,
  questionOctets,
  soaData,
  type TestMessage,
  txtData,
  TYPE,
} from "../../../test/dns/dns-message.ts";
import { fuzzDecoder, STEPS_MAX } from "../../../test/dns/dns-fuzz.ts";
import { A, AAAA, MX, type RecordKind, TXT } from "./records.ts";
import { answers, decodeResponse, encodeQuery, interpret } from "./wire.ts";

const NAME = "shop.example";
const MALFORMED = { kind: "unknown", why: "malformed" };
const REFUSED = { kind: "unknown", why: "refused" };
const SERVFAIL = { kind: "unknown", why: "servfail" };

/** What a message about NAME comes to. */
function read<T>(kind: RecordKind<T>, octets: Buffer): unknown {
  const question = { name: NAME, kind };
  const response = decodeResponse(octets, question);
  return response === undefined ? MALFORMED : interpret(question, response);
}

function about(type: number, parts: Omit<TestMessage, "question">): Buffer {
  return message({ ...parts, question: questionOctets(NAME, type) });
}

const mx = (data: string, { owner = NAME, ttlSeconds = 300 } = {}) => ({
  owner,
  type: TYPE.MX,
  ttlSeconds,
  data: mxData(data),
});
const cname = (owner: string, target: string, ttlSeconds = 300) => ({
  owner,
  type: TYPE.CNAME,
  ttlSeconds,
  data: nameOctets(target),
});
const soa = (ttlSeconds: number, minimumSeconds: number) => ({
  owner: "example",
  type: TYPE.SOA,
  ttlSeconds,
  data: soaData(minimumSeconds),
});
const ns = { owner: "example", type: TYPE.NS, ttlSeconds: 300, data: nameOctets("ns.example") };
const found = (records: unknown[], ttlSeconds = 300) => ({ kind: "found", records, ttlSeconds });

const mxCases: readonly (readonly [string, Omit<TestMessage, "question">, unknown])[] = [
  [
    "MX records come with preference and lower-case host",
    { answers: [mx("10 Mail.Example")] },
    found([{ preference: 10, host: "mail.example" }]),
  ],
  ["null MX is the empty host", { answers: [mx("0 .")] }, found([{ preference: 0, host: "" }])],
  [
    "the least TTL of the set holds",
    { answers: [mx("1 a.example", { ttlSeconds: 90 }), mx("2 b.example", { ttlSeconds: 60 })] },
    found(
      [
        { preference: 1, host: "a.example" },
        { preference: 2, host: "b.example" },
      ],
      60,
    ),
  ],
  [
    "a TTL with the top bit set is 0 (RFC 2181 section 8)",
    { answers: [mx("1 a.example", { ttlSeconds: 0x8000_0000 })] },
    found([{ preference: 1, host: "a.example" }], 0),
  ],
  [
    "an alias is followed inside the answer, and its TTL counts",
    { answers: [cname(NAME, "b.example", 40), mx("1 a.example", { owner: "b.example" })] },
    found([{ preference: 1, host: "a.example" }], 40),
  ],
  [
    "an alias whose end is not told says where to ask on",
    { answers: [cname(NAME, "b.example", 40)] },
    { kind: "alias", target: "b.example", ttlSeconds: 40 },
  ],
  [
    "an alias whose end has no such record is absent when a SOA says so",
    { answers: [cname(NAME, "b.example", 40)], authority: [soa(600, 300)] },
    { kind: "absent", why: "noData", ttlSeconds: 40 },
  ],
  [
    "an alias to nowhere is noName",
    { rcode: 3, answers: [cname(NAME, "b.example")], authority: [soa(60, 300)] },
    { kind: "absent", why: "noName", ttlSeconds: 60 },
  ],
  [
    "aliases in a circle are malformed",
    { answers: [cname(NAME, "b.example"), cname("b.example", NAME)] },
    MALFORMED,
  ],
  [
    "a chain of more than 16 aliases is malformed",
    {
      answers: Array.from({ length: 17 }, (_, index) =>
        cname(index === 0 ? NAME : `c${index}.example`, `c${index + 1}.example`),
      ),
    },
    MALFORMED,
  ],
  [
    "records of another owner alone are no answer",
    { answers: [mx("1 evil.example", { owner: "other.example" })], authority: [soa(60, 60)] },
    MALFORMED,
  ],
  [
    "NXDOMAIN lives for the lesser of the SOA's TTL and MINIMUM (RFC 2308 section 3)",
    { rcode: 3, authority: [soa(900, 120)] },
    { kind: "absent", why: "noName", ttlSeconds: 120 },
  ],
  [
    "NXDOMAIN without a SOA has no TTL",
    { rcode: 3 },
    { kind: "absent", why: "noName", ttlSeconds: undefined },
  ],
  [
    "NODATA is told by the missing type",
    {},
    { kind: "absent", why: "noData", ttlSeconds: undefined },
  ],
  ["a referral is no answer (RFC 2308 section 2.2)", { authority: [ns] }, REFUSED],
  [
    "NODATA with both SOA and NS is an answer",
    { authority: [ns, soa(60, 60)] },
    { kind: "absent", why: "noData", ttlSeconds: 60 },
  ],
  [
    "NXDOMAIN with a record of that name contradicts itself",
    { rcode: 3, answers: [mx("1 a.example")] },
    MALFORMED,
  ],
  ["SERVFAIL is unknown", { rcode: 2 }, SERVFAIL],
  ["REFUSED is unknown", { rcode: 5 }, REFUSED],
  ["NOTIMP is unknown", { rcode: 4 }, SERVFAIL],
  ["a code of 6 and more is unknown", { rcode: 9 }, SERVFAIL],
  ["SERVFAIL is unknown even with records", { rcode: 2, answers: [mx("1 a.example")] }, SERVFAIL],
  [
    "a count beyond the records is malformed",
    { answers: [mx("1 a.example")], answerCount: 2 },
    MALFORMED,
  ],
  [
    "256 records are read",
    { answers: Array.from({ length: 256 }, () => mx("1 a.example")) },
    found(Array.from({ length: 256 }, () => ({ preference: 1, host: "a.example" }))),
  ],
  [
    "of more exchanges 256 are read",
    { answers: Array.from({ length: 1_000 }, () => mx("1 a.example")) },
    found(Array.from({ length: 256 }, () => ({ preference: 1, host: "a.example" }))),
  ],
  [
    "more records without an exchange are malformed",
    { answers: Array.from({ length: 257 }, () => ({ ...mx("1 a.example"), type: TYPE.A })) },
    MALFORMED,
  ],
  [
    "an exchange with octets behind its name is malformed",
    {
      answers: [
        { ...mx("1 a.example"), data: Buffer.concat([mxData("1 a.example"), Buffer.of(0)]) },
      ],
    },
    MALFORMED,
  ],
  [
    "strange octets and dots inside a label are escaped, so that they make no host name",
    { answers: [{ ...mx(""), data: Buffer.from("\0\x01\x05a.\0\\\xe9\x03COM\0", "latin1") }] },
    found([{ preference: 1, host: "a\\046\\000\\092\\233.com" }]),
  ],
];

for (const [name, parts, want] of mxCases) {
  test(name, () => {
    assert.deepEqual(read(MX, about(TYPE.MX, parts)), want);
  });
}

const dataCases: readonly (readonly [string, RecordKind<string>, Buffer, string | undefined])[] = [
  ["A is dotted decimal", A, aData("192.0.2.200"), "192.0.2.200"],
  ["A of three octets is malformed", A, Buffer.of(1, 2, 3), undefined],
  ["AAAA is compressed", AAAA, aaaaData("2001:db8::1"), "2001:db8::1"],
  [
    "AAAA shortens the first of two longest runs",
    AAAA,
    aaaaData("2001:0:0:1:0:0:1:1"),
    "2001::1:0:0:1:1",
  ],
  ["AAAA leaves a single zero group", AAAA, aaaaData("1:0:2:3:4:5:6:7"), "1:0:2:3:4:5:6:7"],
  ["AAAA of zeros only is ::", AAAA, aaaaData("0:0:0:0:0:0:0:0"), "::"],
  ["AAAA of 15 octets is malformed", AAAA, Buffer.alloc(15), undefined],
  [
    "TXT joins its character-strings without a blank",
    TXT,
    txtData(["v=spf1 ", "-all"]),
    "v=spf1 -all",
  ],
  ["TXT is UTF-8 where it is valid", TXT, txtData(["grüße"]), "grüße"],
  ["TXT is Latin-1 where it is not UTF-8", TXT, Buffer.from("\x02\xfc!", "latin1"), "ü!"],
  ["TXT may be empty", TXT, Buffer.of(0), ""],
  ["TXT that promises more than is there is malformed", TXT, Buffer.of(9, 65), undefined],
];

for (const [name, kind, data, want] of dataCases) {
  test(name, () => {
    const answer = { owner: NAME, type: kind.type, ttlSeconds: 300, data };
    const expected = want === undefined ? MALFORMED : found([want]);
    assert.deepEqual(read(kind, about(kind.type, { answers: [answer] })), expected);
  });
}

test("of 257 texts none is read: the one that counts may be the last", () => {
  const answer = { owner: NAME, type: TYPE.TXT, ttlSeconds: 300, data: txtData(["v=spf1 -all"]) };
  const answers = Array.from({ length: 257 }, () => answer);
  assert.deepEqual(read(TXT, about(TYPE.TXT, { answers })), MALFORMED);
});

test("a query is one question with RD, and EDNS of 1,232 octets where asked for", () => {
  const plain = encodeQuery({ name: NAME, kind: MX }, { edns: false });
  const header = Buffer.of(0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0);
  assert.deepEqual(
    Buffer.from(plain ?? []),
    Buffer.concat([header, questionOctets(NAME, TYPE.MX)]),
  );
  const edns = encodeQuery({ name: NAME, kind: MX }, { edns: true });
  header[11] = 1;
  const opt = Buffer.of(0, 0, 41, 0x04, 0xd0, 0, 0, 0, 0, 0, 0);
  const whole = Buffer.concat([header, questionOctets(NAME, TYPE.MX), opt]);
  assert.deepEqual(Buffer.from(edns ?? []), whole);
});

const query = encodeQuery({ name: NAME, kind: MX }, { edns: true }) ?? Buffer.alloc(0);
const reply = about(TYPE.MX, { answers: [mx("1 a.example")] });
const spoilt = (at: number, value: number): Buffer => {
  const copy = Buffer.from(reply);
  copy[at] = value;
  return copy;
};

const matchCases = [
  ["the same id and question answer the query", reply, true],
  ["another id does not", spoilt(1, 1), false],
  ["a query (QR 0) does not", spoilt(2, 0x01), false],
  ["another opcode does not", spoilt(2, 0xa1), false],
  ["a letter in capitals does (RFC 4343)", spoilt(13, (reply[13] ?? 0) ^ 0x20), true],
  ["another letter does not", spoilt(13, (reply[13] ?? 0) ^ 0x01), false],
  ["a length with the same difference does not", spoilt(12, (reply[12] ?? 0) ^ 0x20), false],
  ["NOTIMP without a question does", message({ rcode: 4 }), true],
  ["another type does not", spoilt(query.length - 11 - 3, 16), false],
  ["no question does not", message({ answers: [mx("1 a.example")] }), false],
  ["FORMERR without a question does (RFC 6891 section 7)", message({ rcode: 1 }), true],
  ["eleven octets do not", reply.subarray(0, 11), false],
  ["a question cut short does not", reply.subarray(0, 20), false],
] as const;

for (const [name, octets, want] of matchCases) {
  test(`matching: ${name}`, () => {
    assert.equal(answers(octets, query), want);
  });
}

test("a truncated response is said to be so whatever else it holds", () => {
  const cut = about(TYPE.MX, { truncated: true, answerCount: 9 });
  assert.equal(decodeResponse(cut, { name: NAME, kind: MX })?.truncated, true);
});

test("a text of 64 KB comes through whole", () => {
  const text = "x".repeat(63_000);
  const answer = { owner: NAME, type: TYPE.TXT, ttlSeconds: 300, data: txtData([text]) };
  assert.deepEqual(read(TXT, about(TYPE.TXT, { answers: [answer] })), found([text]));
});

test("64 KiB of pointer chains cost a bounded number of steps", () => {
  const { mostSteps } = fuzzDecoder(25, 1);
  assert.ok(mostSteps > 0 && mostSteps <= STEPS_MAX, `${mostSteps} steps`);
});

test("20,000 spoilt messages are each decoded or refused in bounded steps", () => {
  const { decoded, refused, mostSteps } = fuzzDecoder(20_000, 1);
  assert.ok(decoded > 2_000 && refused > 2_000, `${decoded} decoded, ${refused} refused`);
  assert.ok(mostSteps <= STEPS_MAX, `${mostSteps} steps`);
});

test("a fault that is no malformed message is not swallowed", () => {
  const kind: RecordKind<string> = {
    type: TYPE.MX,
    read() {
      throw new TypeError("a bug");
    },
  };
  assert.throws(() => decodeResponse(reply, { name: NAME, kind }), TypeError);
});

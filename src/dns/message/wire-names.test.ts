import { strict as assert } from "node:assert";
import { test } from "node:test";
import {
  message,
  mxData,
  pointer,
  questionOctets,
  type TestMessage,
  TYPE,
  uint16,
} from "../../../test/dns/dns-message.ts";
import { MessageReader, MX } from "./records.ts";
import { decodeResponse, encodeQuery } from "./wire.ts";

const NAME = "shop.example";

function about(type: number, parts: Omit<TestMessage, "question">): Buffer {
  return message({ ...parts, question: questionOctets(NAME, type) });
}

/** Octets behind the question, taken for one record whose owner starts them. */
function withOwner(...octets: readonly Buffer[]): Buffer {
  return Buffer.concat([about(TYPE.MX, { answerCount: 1 }), ...octets]);
}

const AT = about(TYPE.MX, {}).length;
const MX_1_ROOT = Buffer.concat([uint16(15), uint16(1), Buffer.alloc(4), uint16(3), mxData("1 .")]);
const label = (octets: number): Buffer =>
  Buffer.concat([Buffer.of(octets), Buffer.alloc(octets, 97)]);
const threeLabels = Buffer.concat([label(63), label(63), label(63)]);

const nameCases: readonly (readonly [string, Buffer, boolean])[] = [
  [
    "a name of 255 octets is read",
    withOwner(threeLabels, label(61), Buffer.of(0), MX_1_ROOT),
    true,
  ],
  [
    "a name of 256 octets is not",
    withOwner(threeLabels, label(62), Buffer.of(0), MX_1_ROOT),
    false,
  ],
  ["a pointer to itself is malformed", withOwner(pointer(AT), MX_1_ROOT), false],
  ["a pointer forward is malformed", withOwner(pointer(AT + 2), MX_1_ROOT), false],
  [
    "a pointer into the labels before it is malformed",
    withOwner(Buffer.of(1, 97), pointer(AT), MX_1_ROOT),
    false,
  ],
  ["a pointer cut in half is malformed", withOwner(Buffer.of(0xc0)), false],
  ["a label type of 01 is malformed", withOwner(Buffer.of(0x41, 97, 0), MX_1_ROOT), false],
  ["a label beyond the end is malformed", withOwner(Buffer.of(63, 97)), false],
];

for (const [name, octets, isRead] of nameCases) {
  test(name, () => {
    assert.equal(decodeResponse(octets, { name: NAME, kind: MX }) !== undefined, isRead);
  });
}

test("128 pointers in one name are malformed, 127 are not", () => {
  for (const [hops, isRead] of [
    [127, true],
    [128, false],
  ] as const) {
    // One record of a foreign type holds the chain: a root name, then pointers, each to the one before.
    const start = AT + 12;
    const links = Array.from({ length: hops - 1 }, (_, index) =>
      pointer(index === 0 ? start : start + 1 + (index - 1) * 2),
    );
    const chain = Buffer.concat([Buffer.of(0), ...links]);
    const holder = [
      pointer(12),
      uint16(99),
      uint16(1),
      Buffer.alloc(4),
      uint16(chain.length),
      chain,
    ];
    const last = pointer(start + 1 + (hops - 2) * 2);
    const head = about(TYPE.MX, { answerCount: 2 });
    const octets = Buffer.concat([head, ...holder, last, MX_1_ROOT]);
    const response = decodeResponse(octets, { name: NAME, kind: MX });
    assert.equal(response !== undefined, isRead, `${hops} pointers`);
  }
});

const LABEL = "a".repeat(63);
const nameLimits = [
  ["the root can be asked for", "", true],
  ["an underscore can", "_dmarc.shop.example", true],
  ["63 octets in a label can", `${LABEL}.example`, true],
  ["64 octets in a label cannot", `a${LABEL}.example`, false],
  ["253 characters can", `${LABEL}.${LABEL}.${LABEL}.${"a".repeat(61)}`, true],
  ["254 characters cannot", `${LABEL}.${LABEL}.${LABEL}.${"a".repeat(62)}`, false],
  ["an empty label cannot", "a..example", false],
  ["a trailing dot cannot", "shop.example.", false],
  ["a leading dot cannot", ".example", false],
  ["a blank cannot", "a b.example", false],
  ["an escaped octet can", "a\\046\\233.example", true],
  ["64 octets in a label cannot, one escaped", `\\233${LABEL}.example`, false],
  ["a half escape cannot", "a\\46.example", false],
  ["an octet above 255 cannot", "a\\256.example", false],
  ["a letter beyond ASCII cannot beside an escape", "a\\233é.example", false],
  ["a letter beyond ASCII cannot", "é.example", false],
] as const;

test("a name is asked as it was read", () => {
  const name = "a\\046\\000\\092\\233\\255._b.com";
  const query = encodeQuery({ name, kind: MX }, { edns: false }) ?? Buffer.alloc(0);
  assert.equal(new MessageReader(query).name(12), name);
});

for (const [what, name, can] of nameLimits) {
  test(`names: ${what}`, () => {
    assert.equal(encodeQuery({ name, kind: MX }, { edns: true }) !== undefined, can);
  });
}

/** Builds DNS messages for tests: plainly, octet by octet, and on purpose without the client's codec. */

export const TYPE = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  DNAME: 39,
  OPT: 41,
} as const;

export interface TestRecord {
  readonly owner: string;
  readonly type: number;
  readonly ttlSeconds: number;
  readonly data: Buffer;
}

/** An uncompressed name; "" is the root. Labels are taken as Latin-1, "." always separates. */
export function nameOctets(name: string): Buffer {
  const labels = name === "" ? [] : name.split(".");
  const parts = labels.map((label) => Buffer.from(`\0${label}`, "latin1"));
  for (const part of parts) part[0] = part.length - 1;
  return Buffer.concat([...parts, Buffer.from([0])]);
}

export const uint16 = (value: number): Buffer => Buffer.from([value >> 8, value & 255]);

export function uint32(value: number): Buffer {
  const octets = Buffer.alloc(4);
  octets.writeUInt32BE(value);
  return octets;
}

/** A pointer to the name at `at`. */
export const pointer = (at: number): Buffer => uint16(0xc000 | at);

/** "10 mx.example" or "0 .". */
export function mxData(text: string): Buffer {
  const [preference = "", host = ""] = text.split(" ");
  return Buffer.concat([uint16(Number(preference)), nameOctets(host.replace(/\.$/, ""))]);
}

/** Character-strings of at most 255 octets each; a longer string is split. */
export function txtData(strings: readonly string[]): Buffer {
  const parts = strings.flatMap((text) => {
    const octets = Buffer.from(text);
    const cuts: Buffer[] = [];
    for (let at = 0; at === 0 || at < octets.length; at += 255) {
      const piece = octets.subarray(at, at + 255);
      cuts.push(Buffer.from([piece.length]), piece);
    }
    return cuts;
  });
  return Buffer.concat(parts);
}

export const aData = (text: string): Buffer => Buffer.from(text.split(".").map(Number));

/** Full or "::"-shortened text, no dotted tail. */
export function aaaaData(text: string): Buffer {
  const [left = "", right] = text.split("::");
  const head = left === "" ? [] : left.split(":");
  const tail = right === undefined || right === "" ? [] : right.split(":");
  const zeros = Array<string>(8 - head.length - tail.length).fill("0");
  return Buffer.concat([...head, ...zeros, ...tail].map((group) => uint16(parseInt(group, 16))));
}

export const soaData = (minimumSeconds: number, source = "ns.example"): Buffer =>
  Buffer.concat([
    nameOctets(source),
    nameOctets("hostmaster.example"),
    ...[1, 7_200, 3_600, 1_209_600, minimumSeconds].map(uint32),
  ]);

export interface TestMessage {
  readonly id?: number;
  readonly rcode?: number;
  readonly truncated?: boolean;
  /** The question section; absent: none. */
  readonly question?: Buffer;
  readonly answers?: readonly TestRecord[];
  readonly authority?: readonly TestRecord[];
  /** Beside QR and RD: "recursion available" (default) and "authoritative answer". */
  readonly ra?: boolean | undefined;
  readonly aa?: boolean | undefined;
  /** The code of an extended error (RFC 8914), in an OPT record. */
  readonly ede?: number | undefined;
  /** Replaces the true number of answers. */
  readonly answerCount?: number;
}

export const questionOctets = (name: string, type: number): Buffer =>
  Buffer.concat([nameOctets(name), uint16(type), uint16(1)]);

/** A response (QR, RD, RA). An owner that is the question's name is compressed to a pointer. */
export function message(parts: TestMessage): Buffer {
  const { question = Buffer.alloc(0), answers = [], authority = [], ra = true, aa, ede } = parts;
  const flags = 0x8100 | (ra ? 0x80 : 0) | (aa === true ? 0x400 : 0);
  const header = Buffer.concat(
    [
      parts.id ?? 0,
      flags | (parts.truncated === true ? 0x0200 : 0) | (parts.rcode ?? 0),
      question.length > 0 ? 1 : 0,
      parts.answerCount ?? answers.length,
      authority.length,
      ede === undefined ? 0 : 1,
    ].map(uint16),
  );
  const asked = question.subarray(0, Math.max(0, question.length - 4));
  const records = [...answers, ...authority].map((record) => recordOctets(record, asked));
  return Buffer.concat([header, question, ...records, ...(ede === undefined ? [] : [opt(ede)])]);
}

/** An OPT record with a text beside the code, as resolvers send it. */
function opt(ede: number): Buffer {
  const text = Buffer.from("by policy");
  const option = Buffer.concat([15, text.length + 2, ede].map(uint16));
  const data = Buffer.concat([option, text]);
  return Buffer.concat([
    Buffer.from([0]),
    uint16(TYPE.OPT),
    uint16(1_232),
    uint32(0),
    uint16(data.length),
    data,
  ]);
}

function recordOctets({ owner, type, ttlSeconds, data }: TestRecord, asked: Buffer): Buffer {
  const name = nameOctets(owner);
  return Buffer.concat([
    name.equals(asked) ? pointer(12) : name,
    uint16(type),
    uint16(1),
    uint32(ttlSeconds),
    uint16(data.length),
    data,
  ]);
}

import { crc32, deflateRawSync } from "node:zlib";

/** A ZIP archive (APPNOTE 6.3) of these texts; those that are undefined are left out. */
export function zip(
  files: Readonly<Record<string, string | undefined>>,
  level = 1,
): Buffer<ArrayBuffer> {
  const parts: Buffer[] = [];
  const entries: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(files)) {
    if (text === undefined) continue;
    const octets = Buffer.from(text);
    const packed = deflateRawSync(octets, { level });
    const facts = [
      u16(20, 0x800, 8, 0, 33),
      u32(crc32(octets), packed.length, octets.length),
      u16(name.length, 0),
    ];
    const local = [Buffer.from("PK\x03\x04"), ...facts, Buffer.from(name), packed];
    entries.push(
      Buffer.from("PK\x01\x02"),
      u16(20),
      ...facts,
      u16(0, 0, 0),
      u32(0, offset),
      Buffer.from(name),
    );
    parts.push(...local);
    offset += local.reduce((sum, part) => sum + part.length, 0);
  }
  const directory = Buffer.concat(entries);
  const count = Object.values(files).filter((text) => text !== undefined).length;
  const end = [
    Buffer.from("PK\x05\x06"),
    u16(0, 0, count, count),
    u32(directory.length, offset),
    u16(0),
  ];
  return Buffer.concat([...parts, directory, ...end]);
}

const u16 = (...values: number[]): Buffer => Buffer.from(Uint16Array.from(values).buffer);
const u32 = (...values: number[]): Buffer => Buffer.from(Uint32Array.from(values).buffer);

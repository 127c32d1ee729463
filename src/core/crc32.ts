const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/** CRC-32 as in RFC 1952 section 8; `sum` is that of the octets before. */
export function crc32(octets: Uint8Array, sum = 0): number {
  let value = sum ^ 0xffffffff;
  for (const octet of octets) value = (TABLE[(value ^ octet) & 0xff] ?? 0) ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}

import { strict as assert } from "node:assert";
import { test } from "node:test";
import { readListFile } from "./list-file.ts";
import { outText } from "./out-text.ts";

const PEOPLE = "name;email\r\nJos\u00e9 \u201cJo\u201d;jo@good.test\r\n";
const utf16 = (text: string): Buffer => Buffer.from(text, "utf16le");
const latin = Buffer.from("name;email\nJos\xe9 \x93Jo\x94 \x80;jo@good.test\n", "latin1");

const files: Readonly<Record<string, Buffer>> = {
  "UTF-8, lines end as in Windows": Buffer.from(PEOPLE),
  "UTF-8 with its mark": Buffer.from(`\ufeff${PEOPLE}`),
  "lines end with LF": Buffer.from(PEOPLE.replaceAll("\r\n", "\n")),
  "lines end with CR": Buffer.from(PEOPLE.replaceAll("\r\n", "\r")),
  "Windows-1252": latin,
  tabs: Buffer.from(PEOPLE.replaceAll(";", "\t")),
  bars: Buffer.from(PEOPLE.replaceAll(";", "|")),
  "UTF-16, little end first": utf16(`\ufeff${PEOPLE}`),
  "UTF-16, big end first": utf16(`\ufeff${PEOPLE}`).swap16(),
  "UTF-16 without a mark": utf16(PEOPLE),
  "a line that says the separator": Buffer.from(`sep=;\r\n${PEOPLE}`),
  "quotes around separators": Buffer.from('name,email\n"Ash, Jo; ""x""",jo@good.test\n'),
};

async function written(octets: Buffer, isForExcel = false): Promise<Buffer> {
  const parts: (Uint8Array | string)[] = [];
  for await (const { shape, rows } of readListFile(slicesOf(octets), {})) {
    const { head, line, encode } = outText(shape, isForExcel);
    parts.push(encode(head + line(shape.header) + rows.map(({ cells }) => line(cells)).join("")));
  }
  return Buffer.concat(parts.map((part) => Buffer.from(part as string)));
}

for (const [kind, octets] of Object.entries(files)) {
  test(`a text goes out as it came: ${kind}`, async () => {
    assert.deepEqual(await written(octets), octets);
  });
}

test("for Excel a text is UTF-8 with its mark", async () => {
  const text = (await written(latin, true)).toString();
  assert.equal(text, "\ufeffname;email\nJos\u00e9 \u201cJo\u201d \u20ac;jo@good.test\n");
});

test("what Windows-1252 has no octet for is a question mark there", async () => {
  for await (const { shape } of readListFile(slicesOf(latin), {})) {
    const octets = outText(shape, false).encode("\u4e2d\u20ac");
    assert.deepEqual(octets, Buffer.from("?\x80", "latin1"));
  }
});

async function* slicesOf(octets: Buffer): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(octets);
}

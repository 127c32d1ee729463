import { strict as assert } from "node:assert";
import { test } from "node:test";
import { Refusal } from "../base/refusals.ts";
import { readParts } from "./decode.ts";

const TYPE = "multipart/form-data; boundary=x";
const part = (head: string, body: string): string => `--x\r\n${head}\r\n\r\n${body}\r\n`;
const field = (name: string, body: string): string =>
  part(`Content-Disposition: form-data; name="${name}"`, body);
const read = (body: string | Buffer, type = TYPE): ReturnType<typeof readParts> =>
  readParts(type, Buffer.from(body));

const UTF8_TEXT = "Content-Type: text/plain; charset=UTF-8\r\nContent-Transfer-Encoding: 8bit";

/** Name, body, and the texts of the parameter `email`. */
const texts = [
  ["a field", `${field("email", "a+b@x.example")}--x--\r\n`, ["a+b@x.example"]],
  ["nothing is decoded", `${field("email", "a%40x+y")}--x--\r\n`, ["a%40x+y"]],
  ["UTF-8", `${field("email", "jürg@x.example")}--x--\r\n`, ["jürg@x.example"]],
  ["an empty value", `${field("email", "")}--x--\r\n`, [""]],
  ["line breaks belong to a value", `${field("email", "a\r\nb\n")}--x--\r\n`, ["a\r\nb\n"]],
  [
    "values stand in their order",
    `${field("email", "a")}${field("bulk", "1")}${field("email", "b")}--x--\r\n`,
    ["a", "b"],
  ],
  [
    "a name without quotation marks, as .NET writes it",
    `${part("Content-Disposition: form-data; name=email", "a")}--x--\r\n`,
    ["a"],
  ],
  [
    "a part with a charset and an encoding, as Java writes it",
    `${part(`Content-Disposition: form-data; name="email"\r\n${UTF8_TEXT}`, "ü")}--x--\r\n`,
    ["ü"],
  ],
  [
    "a type alone makes no file",
    `${part('Content-Disposition: form-data; name="email"\r\nContent-Type: application/octet-stream', "a")}--x--\r\n`,
    ["a"],
  ],
  ["what stands before and behind the parts", `hi\r\n${field("email", "a")}--x--\r\nbye`, ["a"]],
  ["no line break behind the last boundary", `${field("email", "a")}--x--`, ["a"]],
  ["a part without a name", `${part("Content-Disposition: form-data", "a")}--x--\r\n`, undefined],
  ["no part at all", "--x--\r\n", undefined],
] as const;

for (const [name, body, want] of texts) {
  test(`parts: ${name}`, async () => {
    assert.deepEqual((await read(body)).fields.get("email"), want);
  });
}

test("parts: a charset of its own is read", async () => {
  const head = 'Content-Disposition: form-data; name="email"\r\nContent-Type: text/plain;';
  const body = Buffer.from(
    `${part(`${head} charset=ISO-8859-1`, "j\u00fcrg@x")}--x--\r\n`,
    "latin1",
  );
  assert.deepEqual((await read(body)).fields.get("email"), ["jürg@x"]);
});

test("parts: items of an array stand under one name", async () => {
  const { fields: found } = await read(`${field("email[0]", "a")}${field("email[]", "b")}--x--`);
  assert.deepEqual([...found], [["email[]", ["a", "b"]]]);
});

test("parts: neither a field nor a file needs a name", async () => {
  const head = 'Content-Disposition: form-data; filename="a"';
  const { fields: found, files } = await read(
    `${part("Content-Disposition: form-data", "a")}${part(head, "b")}--x--\r\n`,
  );
  assert.deepEqual([[...found], [...files]], [[["", ["a"]]], [""]]);
});

test("parts: a file is named and not kept", async () => {
  const head = 'Content-Disposition: form-data; name="email"; filename="a.txt"';
  const { fields: found, files } = await read(`${part(head, "a@x".repeat(50_000))}--x--\r\n`);
  assert.deepEqual([...found], []);
  assert.deepEqual([...files], ["email"]);
});

test("parts: a value of six million octets is whole", async () => {
  const list = "a@x.example,".repeat(500_000);
  assert.deepEqual((await read(`${field("email", list)}--x--`)).fields.get("email"), [list]);
});

test("parts: a thousand are read", async () => {
  const { fields: found } = await read(`${field("email", "a").repeat(1_000)}--x--`);
  assert.equal(found.get("email")?.length, 1_000);
});

/** Name, body, content type and what the refusal says. */
const broken = [
  ["no boundary", field("email", "a"), "multipart/form-data", /no boundary/],
  ["no last boundary", field("email", "a"), TYPE, /broken/],
  ["a head cut short", "--x\r\nContent-Dis", TYPE, /broken/],
  [
    "a file cut short",
    part('Content-Disposition: form-data; name="a"; filename="b"', "c"),
    TYPE,
    /broken/,
  ],
  ["garbage", "garbage", TYPE, /broken/],
  ["another boundary", field("email", "a"), "multipart/form-data; boundary=y", /broken/],
  ["1,001 parts", `${field("email", "a").repeat(1_001)}--x--`, TYPE, /at most 1000 parts/],
] as const;

for (const [name, body, type, says] of broken) {
  test(`parts: ${name} is refused with a reason`, async () => {
    await assert.rejects(
      read(body, type),
      (error) => error instanceof Refusal && error.status === 400 && says.test(error.message),
    );
  });
}

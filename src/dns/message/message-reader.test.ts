import { strict as assert } from "node:assert";
import { test } from "node:test";
import { MalformedMessage, MessageReader } from "./records.ts";

const label = (text: string): string => String.fromCharCode(text.length) + text;
const LONG = label("x".repeat(63));

/** Messages in Latin-1, with the place of a name in them, how it reads and where it ends. */
const names: readonly (readonly [
  what: string,
  message: string,
  at: number,
  name: string,
  end: number,
])[] = [
  ["the root", "\0", 0, "", 1],
  ["labels", `${label("a")}${label("example")}\0`, 0, "a.example", 11],
  ["capitals", `${label("EXAMPLE")}\0`, 0, "example", 9],
  ["octets that are no host's", `${label("a.\xff")}\0`, 0, "a\\046\\255", 5],
  ["a pointer back", `${label("org")}\0${label("a")}\xc0\0`, 5, "a.org", 9],
  ["a pointer to a pointer", `${label("org")}\0\xc0\0\xc0\x05`, 7, "org", 9],
];

const spoilt: readonly (readonly [what: string, message: string, at: number])[] = [
  ["nothing there", "", 0],
  ["no end", label("a"), 0],
  ["a label cut short", "\x05abc", 0],
  ["a label up to the last octet", "\x03abc", 0],
  ["a label type that is reserved", "\x40a\0", 0],
  ["a pointer cut short", "\0\xc0", 1],
  ["a pointer to itself", "\xc0\0", 0],
  ["a pointer forward", "\xc0\x02\0", 0],
  ["over 255 octets", `${LONG}${LONG}${LONG}${LONG}\0`, 0],
];

const readerOf = (message: string): MessageReader =>
  new MessageReader(Buffer.from(message, "latin1"));

for (const [what, message, at, name, end] of names) {
  test(`a name that is passed over ends where it does when read: ${what}`, () => {
    const read = readerOf(message);
    assert.equal(read.name(at), name);
    assert.equal(read.end, end);
    const passed = readerOf(message);
    passed.skip(at);
    assert.equal(passed.end, end);
    assert.equal(passed.steps, read.steps);
  });
}

for (const [what, message, at] of spoilt) {
  test(`a spoilt name is malformed, read or passed over: ${what}`, () => {
    assert.throws(() => readerOf(message).name(at), MalformedMessage);
    assert.throws(() => {
      readerOf(message).skip(at);
    }, MalformedMessage);
  });
}

import { strict as assert } from "node:assert";
import { test } from "node:test";
import { isLatin1, utf8Form } from "./decode.ts";

const types = [
  ["application/x-www-form-urlencoded; charset=ISO-8859-1", true],
  ['application/json;charset="iso-8859-1"', true],
  ["application/json; charset=latin1; x=y", true],
  ["application/x-www-form-urlencoded; charset=UTF-8", false],
  ["application/x-www-form-urlencoded; charset=ISO-8859-15", false],
  ["application/x-www-form-urlencoded", false],
] as const;

for (const [type, want] of types) {
  test(`${type} ${want ? "is" : "is not"} ISO-8859-1`, () => assert.equal(isLatin1(type), want));
}

const forms = [
  ["ASCII stays as it is", "email=a%40x.example&b=%7f+1", "email=a%40x.example&b=%7f+1"],
  [
    "an escaped letter becomes itself",
    "email=jos%E9%40b%fccher.example",
    "email=josé%40bücher.example",
  ],
  ["a raw letter becomes itself", "email=josé@x.example", "email=josé@x.example"],
  ["the ends of the range", "%80%ff\x80\xff", "\x80\xff\x80\xff"],
  ["an escape cut short stays", "%e", "%e"],
  ["no escape stays", "100%é%zz", "100%é%zz"],
  ["nothing", "", ""],
] as const;

for (const [name, form, want] of forms) {
  test(`ISO-8859-1: ${name}`, () => {
    assert.equal(utf8Form(Buffer.from(form, "latin1")), want);
  });
}

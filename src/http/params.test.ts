import { strict as assert } from "node:assert";
import { test } from "node:test";
import { Refusal } from "../service/refusals.ts";
import { readForm } from "./form.ts";
import { type Body, readParams } from "./params.ts";

const WANTED = new Set(["email", "features", "bulk", "json", "__proto__", "constructor"]);
const NONE: Body = { kind: "none" };
const form = (text: string): Body => ({ kind: "form", text });
const json = (text: string): Body => ({ kind: "json", value: JSON.parse(text) as object });

const texts = [
  ["a form value is decoded", form("email=a%40x.example"), "", "a@x.example"],
  ["a plus is a plus sign", form("email=a+b%40x.example"), "", "a+b@x.example"],
  ["the first of several wins", form("email=a&email=b"), "", "a"],
  ["the first wins when it is empty", form("email=&email=b"), "", ""],
  ["a name without a value is empty", form("email"), "", ""],
  ["a second equals sign belongs to the value", form("email=a=b"), "", "a=b"],
  ["an encoded name is the same name", form("e%6Dail=a"), "", "a"],
  ["another case is another name", form("Email=a"), "", undefined],
  ["empty pairs are nothing", form("&&email=a&&"), "", "a"],
  ["a value may hold anything but an ampersand", form("email=a;b?c#d/e"), "", "a;b?c#d/e"],
  ["a stray percent sign stays", form("email=100%"), "", "100%"],
  ["the query is read where the body names nothing", form("x=1"), "email=q", "q"],
  ["the body wins over the query", form("email=b"), "email=q", "b"],
  ["the body wins when its value is empty", form("email="), "email=q", ""],
  ["JSON wins over the query", json('{"email":"j"}'), "email=q", "j"],
  ["JSON text is not percent-decoded", json('{"email":"%40"}'), "", "%40"],
  ["JSON true is the word", json('{"email":true}'), "", "true"],
  ["the first of a JSON array wins", json('{"email":["a","b"]}'), "", "a"],
  ["an empty JSON array is no value", json('{"email":[]}'), "", undefined],
  ["an inherited member is no parameter", json("{}"), "", undefined],
  ["nothing at all is absent", NONE, "", undefined],
] as const;

for (const [name, body, query, want] of texts) {
  test(name, () => {
    assert.equal(readParams(body, query, WANTED).text("email"), want);
  });
}

const bulks = [
  ["repeated bulk values are joined", form("email=a%40x+b%40y&email=c"), "a@x b@y\nc"],
  ["JSON text keeps its plus signs in bulk", json('{"email":"a+b"}'), "a+b"],
  ["a JSON array is joined in bulk", json('{"email":["a","b"]}'), "a\nb"],
] as const;

for (const [name, body, want] of bulks) {
  test(name, () => {
    assert.equal(readParams(body, "", WANTED).bulkText("email"), want);
  });
}

const flags = [
  ["bulk=1", true],
  ["bulk=true", true],
  ["bulk=TRUE", true],
  ["bulk=True", true],
  ["bulk=0", false],
  ["bulk=false", false],
  ["bulk=11", false],
  ["bulk", false],
  ["bulk=", false],
  ["", false],
] as const;

for (const [query, want] of flags) {
  test(`"${query}" is ${String(want)}`, () => {
    assert.equal(readParams(NONE, query, WANTED).flag("bulk"), want);
  });
}

test("JSON true is a set flag and JSON false is none", () => {
  const params = readParams(json('{"bulk":true,"json":false}'), "", WANTED);
  assert.equal(params.flag("bulk"), true);
  assert.equal(params.flag("json"), false);
});

const nameLists = [
  ["commas separate names", form("features=spf,DKIM"), ["spf", "dkim"]],
  ["an encoded comma separates names", form("features=spf%2Cdkim"), ["spf", "dkim"]],
  ["blanks around names are nothing", form("features=+spf,+%20dkim+"), ["spf", "dkim"]],
  [
    "a JSON array is a list of names",
    json('{"features":["spf","dkim,dmarc"]}'),
    ["spf", "dkim", "dmarc"],
  ],
  ["an empty list has no names", form("features=,,"), []],
] as const;

for (const [name, body, want] of nameLists) {
  test(name, () => {
    assert.deepEqual(readParams(body, "", WANTED).names("features"), want);
  });
}

test("a list of millions of names is cut before it is split", () => {
  const names = readParams(form(`features=${"spf,".repeat(1_000_000)}`), "", WANTED).names(
    "features",
  );
  assert.equal(names.length, 250);
});

for (const value of ["1", "null", "{}", "[1]", '["a",null]', "[[]]", "1.5"]) {
  test(`JSON ${value} is refused as a parameter`, () => {
    const params = readParams(json(`{"email":${value}}`), "", WANTED);
    assert.throws(
      () => params.text("email"),
      (error) =>
        error instanceof Refusal && error.status === 400 && error.message.includes("email"),
    );
  });
}

test("parameters named like prototype members are plain parameters", () => {
  const params = readParams(json('{"__proto__":"a","constructor":"b"}'), "", WANTED);
  assert.equal(params.text("__proto__"), "a");
  assert.equal(params.text("constructor"), "b");
  assert.equal(readParams(json("{}"), "", WANTED).text("constructor"), undefined);
});

test("a wrong type of a parameter that nobody reads is nobody's business", () => {
  assert.equal(readParams(json('{"email":"a","features":7}'), "", WANTED).text("email"), "a");
});

test("a form keeps only the wanted names, whatever else is in it", () => {
  const noise = "x=1&".repeat(500_000);
  const fields = readForm(`${noise}email=a&${"&".repeat(500_000)}${"n".repeat(500_000)}=1`, WANTED);
  assert.deepEqual([...fields], [["email", ["a"]]]);
});

test("a million names that cannot be decoded are passed over", () => {
  const noise = "%zz=1&%ff=1&".repeat(500_000);
  assert.deepEqual([...readForm(`${noise}%65mail=a`, WANTED)], [["email", ["a"]]]);
});

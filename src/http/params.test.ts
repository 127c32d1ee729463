import { strict as assert } from "node:assert";
import { test } from "node:test";
import { Refusal } from "../base/refusals.ts";
import { type Body, Params, readForm } from "./params.ts";

const WANTED = new Set(["email", "features", "bulk", "json", "__proto__", "constructor"]);
const NONE: Body = { kind: "none" };
const form = (text: string): Body => ({
  kind: "form",
  fields: readForm(text, WANTED),
});
const json = (text: string): Body => ({ kind: "json", value: JSON.parse(text) as object });
const parts = (...texts: readonly (readonly [string, ...string[]])[]): Body => ({
  kind: "parts",
  fields: new Map(texts.map(([name, ...values]) => [name, values])),
  files: new Set(),
});

const texts = [
  ["a form value is decoded", form("email=a%40x.example"), "", "a@x.example"],
  ["a plus is a plus sign", form("email=a+b%40x.example"), "", "a+b@x.example"],
  ["the first of several wins", form("email=a&email=b"), "", "a"],
  ["the first wins when it is empty", form("email=&email=b"), "", ""],
  ["a name without a value is empty", form("email"), "", ""],
  ["a second equals sign belongs to the value", form("email=a=b"), "", "a=b"],
  ["an encoded name is the same name", form("e%6Dail=a"), "", "a"],
  ["another case is another name", form("Email=a"), "", undefined],
  ["empty pairs are ignored", form("&&email=a&&"), "", "a"],
  ["a value may hold any character except an ampersand", form("email=a;b?c#d/e"), "", "a;b?c#d/e"],
  ["a stray percent sign stays", form("email=100%"), "", "100%"],
  ["the query is read where the body names nothing", form("x=1"), "email=q", "q"],
  ["the body wins over the query", form("email=b"), "email=q", "b"],
  ["the body wins when its value is empty", form("email="), "email=q", ""],
  ["JSON wins over the query", json('{"email":"j"}'), "email=q", "j"],
  ["JSON text is not percent-decoded", json('{"email":"%40"}'), "", "%40"],
  ["JSON true is the word", json('{"email":true}'), "", "true"],
  ["the first of a JSON array wins", json('{"email":["a","b"]}'), "", "a"],
  ["an empty JSON array is not a value", json('{"email":[]}'), "", undefined],
  ["an inherited member is not a parameter", json("{}"), "", undefined],
  ["nothing at all is absent", NONE, "", undefined],
  ["the first item of an array wins", form("email[]=a&email[]=b"), "", "a"],
  ["an encoded array is the same array", form("email%5B0%5D=a"), "", "a"],
  ["a value wins over an item", form("email[]=a&email=b"), "", "b"],
  ["an array of the query", NONE, "email[0]=a", "a"],
  ["the body's array wins over the query", form("email[]=a"), "email=q", "a"],
  ["a name inside brackets is another name", form("email[x]=a&email[][]=b"), "", undefined],
  ["brackets alone are not a name", form("[]=a&[0]=b&]=c"), "", undefined],
  ["a part is taken as it is", parts(["email", "a+b%40x"]), "", "a+b%40x"],
  ["the first of several parts wins", parts(["email", "a", "b"]), "", "a"],
  ["the body's parts win over the query", parts(["email", ""]), "email=q", ""],
  ["the query is read where no part is", parts(["x", "1"]), "email=q", "q"],
] as const;

for (const [name, body, query, want] of texts) {
  test(name, () => {
    assert.equal(new Params(body, query, WANTED).text("email"), want);
  });
}

const bulks = [
  ["repeated bulk values are joined", form("email=a%40x+b%40y&email=c"), "a@x b@y\nc"],
  ["JSON text keeps its plus signs in bulk", json('{"email":"a+b"}'), "a+b"],
  ["a JSON array is joined in bulk", json('{"email":["a","b"]}'), "a\nb"],
  ["items are joined in bulk", form("email[0]=a%40x+b%40y&email[1]=c"), "a@x b@y\nc"],
  ["items follow the values of the name", form("email[]=b&email=a&email[]=c"), "a\nb\nc"],
  ["parts are joined in bulk as they are", parts(["email", "a+b@x c%40y", "d"]), "a+b@x c%40y\nd"],
] as const;

for (const [name, body, want] of bulks) {
  test(name, () => {
    assert.equal(new Params(body, "", WANTED).bulkText("email"), want);
  });
}

const entries = [
  ["a plus before a raw at sign is a plus sign", "address", "a+b@x.co", "a+b@x.co"],
  ["a plus before an encoded at sign is a plus sign", "address", "a+b%40x.co", "a+b@x.co"],
  ["a leading plus is a plus sign", "address", "+a@x.co", "+a@x.co"],
  ["a plus behind the at sign is a blank", "address", "a%40x.co+", "a@x.co "],
  ["the last at sign counts", "address", "a+%40b+@x.co+", "a+@b+@x.co "],
  ["without an at sign a plus is a plus sign", "address", "a+b", "a+b"],
  ["an encoded plus behind the at sign is a plus sign", "address", "a@x.co%2B", "a@x.co+"],
  ["a plus in a domain is a blank", "domain", "+x.co+", " x.co "],
  ["either: with an at sign it is an address", "either", "a+b@x.co+", "a+b@x.co "],
  ["either: without one it is a domain", "either", "+x.co", " x.co"],
] as const;

for (const [name, kind, value, want] of entries) {
  test(`entry: ${name}`, () => {
    assert.equal(new Params(form(`email=${value}`), "", WANTED).entry("email", kind), want);
    assert.equal(new Params(NONE, `email=${value}`, WANTED).entry("email", kind), want);
  });
}

test("entry: a plus in JSON and in parts is a plus sign", () => {
  assert.equal(new Params(json('{"email":"a@x+"}'), "", WANTED).entry("email", "address"), "a@x+");
  assert.equal(new Params(parts(["email", "x+"]), "", WANTED).entry("email", "domain"), "x+");
});

test("words: a plus of a form is a blank, an encoded one a plus sign", () => {
  assert.equal(new Params(form("email=it+is+1%2B1"), "", WANTED).words("email"), "it is 1+1");
});

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
    assert.equal(new Params(NONE, query, WANTED).flag("bulk"), want);
  });
}

test("JSON true sets a flag and JSON false does not", () => {
  const params = new Params(json('{"bulk":true,"json":false}'), "", WANTED);
  assert.equal(params.flag("bulk"), true);
  assert.equal(params.flag("json"), false);
});

const nameLists = [
  ["commas separate names", form("features=spf,DKIM"), ["spf", "dkim"]],
  ["an encoded comma separates names", form("features=spf%2Cdkim"), ["spf", "dkim"]],
  ["blanks around names are ignored", form("features=+spf,+%20dkim+"), ["spf", "dkim"]],
  [
    "a JSON array is a list of names",
    json('{"features":["spf","dkim,dmarc"]}'),
    ["spf", "dkim", "dmarc"],
  ],
  ["an empty list has no names", form("features=,,"), []],
  ["the first of several lists wins", form("features=spf&features=dkim"), ["spf"]],
  ["all items of an array count", form("features[]=spf&features[]=DKIM"), ["spf", "dkim"]],
  ["a list and an array", form("features[]=dkim&features=spf&features=dmarc"), ["spf", "dkim"]],
  ["a part is a list of names", parts(["features", "spf, DKIM"]), ["spf", "dkim"]],
  ["parts of an array are a list", parts(["features[]", "spf", "dkim"]), ["spf", "dkim"]],
] as const;

for (const [name, body, want] of nameLists) {
  test(name, () => {
    assert.deepEqual(new Params(body, "", WANTED).names("features"), want);
  });
}

test("a list of millions of names is cut before it is split", () => {
  const names = new Params(form(`features=${"spf,".repeat(1_000_000)}`), "", WANTED).names(
    "features",
  );
  assert.equal(names.length, 250);
});

for (const value of ["1", "null", "{}", "[1]", '["a",null]', "[[]]", "1.5"]) {
  test(`JSON ${value} is refused as a parameter`, () => {
    const params = new Params(json(`{"email":${value}}`), "", WANTED);
    assert.throws(
      () => params.text("email"),
      (error) =>
        error instanceof Refusal && error.status === 400 && error.message.includes("email"),
    );
  });
}

test("a file is refused in place of text, and ignored elsewhere", () => {
  const files = new Set(["email", "features[]", "logo"]);
  const fields = new Map([["domain", ["x.example"]]]);
  const wanted = new Set(["email", "domain", "features"]);
  const params = new Params({ kind: "parts", fields, files }, "email=q", wanted);
  const refused = (error: unknown): boolean => error instanceof Refusal && error.status === 400;
  assert.throws(() => params.text("email"), refused);
  assert.throws(() => params.bulkText("email"), refused);
  assert.throws(() => params.names("features"), refused);
  assert.equal(params.text("domain"), "x.example");
});

test("parameters named like prototype members are plain parameters", () => {
  const params = new Params(json('{"__proto__":"a","constructor":"b"}'), "", WANTED);
  assert.equal(params.text("__proto__"), "a");
  assert.equal(params.text("constructor"), "b");
  assert.equal(new Params(json("{}"), "", WANTED).text("constructor"), undefined);
});

test("a wrong type of an unused parameter is ignored", () => {
  assert.equal(new Params(json('{"email":"a","features":7}'), "", WANTED).text("email"), "a");
});

test("a form keeps only the wanted names", () => {
  const noise = "x=1&".repeat(500_000);
  const fields = readForm(`${noise}email=a&${"&".repeat(500_000)}${"n".repeat(500_000)}=1`, WANTED);
  assert.deepEqual([...fields], [["email", ["a"]]]);
});

test("a million names that cannot be decoded are passed over", () => {
  const noise = "%zz=1&%ff=1&".repeat(500_000);
  assert.deepEqual([...readForm(`${noise}%65mail=a`, WANTED)], [["email", ["a"]]]);
});

import { strict as assert } from "node:assert";
import { test } from "node:test";
import { decodeText } from "./decode.ts";
import { bulkText } from "./params.ts";

const read = (text: string, ...wanted: string[]) =>
  decodeText(Buffer.from(text), {
    kind: "form",
    type: "application/x-www-form-urlencoded",
    wanted: new Set(wanted),
  });

test("a large form keeps a long list as text and the other parameters as they stand", () => {
  const list = "a@b.example%0A".repeat(10_000);
  const text = `json=1&email=${list}&email[]=c@d.example&features=spf&other=${list}`;
  const body = read(text, "email", "json", "features");
  assert.ok(body.kind === "fields");
  assert.equal(body.texts.get("email"), bulkText(`${list}%0Ac@d.example`));
  assert.deepEqual([...body.fields.keys()].toSorted(), ["email", "features", "json"]);
});

const MAX = 2_000_000;

/** Name, list and what is left of it. */
const long: readonly (readonly [string, string, string])[] = [
  ["one that may be a list stays", "a,".repeat(MAX / 2), "a,".repeat(MAX / 2)],
  ["one octet more is too long", `${"a".repeat(MAX)}b`, "a".repeat(MAX + 1)],
  ["one without an entry stays one", "%20".repeat(MAX + 2), `,${" ".repeat(MAX)}`],
  ["an entry behind blanks is kept", `${"%20".repeat(MAX)}x,`, `x${" ".repeat(MAX)}`],
];

for (const [name, list, left] of long) {
  test(`of a list that is too long: ${name}`, () => {
    const body = read(`email=${list}`, "email");
    assert.ok(body.kind === "fields" && body.texts.get("email") === left);
  });
}

test("the first value of a parameter stays whole for a single check, however long it is", () => {
  const sent = `a${"+".repeat(5_000_000)}@x.example`;
  const body = read(`email=${sent}`, "email");
  assert.ok(body.kind === "fields");
  assert.deepEqual(body.fields.get("email"), [sent]);
});

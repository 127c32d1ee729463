import assert from "node:assert/strict";
import { test } from "node:test";
import { argonPasswords } from "./passwords.ts";

test("a password is kept as argon2id of 19 MiB and two passes, salted anew", async () => {
  const hash = await argonPasswords.hash("correct horse");
  assert.match(hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  assert.notEqual(hash, await argonPasswords.hash("correct horse"));
  assert.equal(await argonPasswords.verify(hash, "correct horse"), true);
  assert.equal(await argonPasswords.verify(hash, "correct horsf"), false);
  assert.equal(await argonPasswords.verify(hash, ""), false);
});

for (const hash of [
  "",
  "nonsense",
  "$argon2id$v=19$m=19456,t=2,p=1$$",
  "$2b$12$abcdefghijklmnopqrstuv",
]) {
  test(`no password fits "${hash}"`, async () => {
    assert.equal(await argonPasswords.verify(hash, "correct horse"), false);
  });
}

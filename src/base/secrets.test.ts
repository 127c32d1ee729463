import { strict as assert } from "node:assert";
import { fork } from "node:child_process";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createSecretBox, deriveKey, loadSecretKey } from "./secrets.ts";
import { temporaryFolder } from "../../test/process/temporary-folder.ts";

const key = new Uint8Array(32).fill(1);
const secret = "0123456789abcdef".repeat(4);

test("what was sealed opens with the same key and about the same", () => {
  const box = createSecretBox(key);
  const sealed = box.seal(secret, "a1");
  assert.equal(box.open(sealed, "a1"), secret);
  assert.ok(!sealed.includes(secret));
  assert.notEqual(sealed, box.seal(secret, "a1"));
});

test("anything else does not open", () => {
  const box = createSecretBox(key);
  const sealed = box.seal(secret, "a1");
  const octets = Buffer.from(sealed.slice(3), "base64");
  for (let at = 0; at < octets.length; at += 1) {
    const changed = Buffer.from(octets);
    changed[at] = (changed[at] ?? 0) ^ 1;
    assert.equal(box.open(`v1:${changed.toString("base64")}`, "a1"), undefined);
  }
  const others = [
    "",
    "v1:",
    "v1:AAAA",
    sealed.slice(3),
    sealed.slice(0, -8),
    `v2:${sealed.slice(3)}`,
  ];
  for (const other of others) assert.equal(box.open(other, "a1"), undefined, other);
  assert.equal(box.open(sealed, "a2"), undefined);
  assert.equal(createSecretBox(new Uint8Array(32)).open(sealed, "a1"), undefined);
});

test("a setting is the key, and is checked", () => {
  assert.deepEqual(loadSecretKey(key, "/nowhere"), key);
  assert.throws(
    () => loadSecretKey(new Uint8Array(31), "/nowhere"),
    /GATEPOST_SECRET_KEY must hold 32 bytes/,
  );
});

test("a key is made once, for its owner's eyes only, and stays", () => {
  const folder = join(temporaryFolder(), "data");
  const first = loadSecretKey(undefined, folder);
  assert.equal(first.length, 32);
  assert.deepEqual(loadSecretKey(undefined, folder), first);
  assert.deepEqual(readdirSync(folder), ["secret.key"]);
  assert.equal(statSync(join(folder, "secret.key")).mode & 0o777, 0o600);
  assert.deepEqual(
    Buffer.from(readFileSync(join(folder, "secret.key"), "utf8"), "base64"),
    Buffer.from(first),
  );
});

test("a key file that is damaged stops the start and is not replaced", () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "secret.key"), "c2hvcnQ=\n");
  assert.throws(() => loadSecretKey(undefined, folder), /secret\.key must hold 32 bytes in base64/);
  assert.equal(readFileSync(join(folder, "secret.key"), "utf8"), "c2hvcnQ=\n");
});

test("processes that start together agree on one key", async () => {
  const folder = temporaryFolder();
  const script = join(folder, "start.mjs");
  const module = new URL("./secrets.js", import.meta.url).href;
  writeFileSync(
    script,
    `import { loadSecretKey } from ${JSON.stringify(module)};\n` +
      `process.send(Buffer.from(loadSecretKey(undefined, ${JSON.stringify(join(folder, "data"))})).toString("hex"));\n`,
  );
  const keys = await Promise.all(
    Array.from({ length: 6 }, () => {
      return new Promise((resolve) => fork(script).on("message", resolve));
    }),
  );
  assert.equal(new Set(keys).size, 1);
});

test("each purpose has a key of its own", () => {
  assert.equal(deriveKey(key, "cookies").length, 32);
  assert.deepEqual(deriveKey(key, "cookies"), deriveKey(key, "cookies"));
  assert.notDeepEqual(deriveKey(key, "cookies"), deriveKey(key, "webhook secrets"));
});

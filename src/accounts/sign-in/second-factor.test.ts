import { strict as assert } from "node:assert";
import { test } from "node:test";
import { octetsOf } from "../../../test/dashboard/authenticator.ts";
import { manualClock } from "../../../test/time/manual-clock.ts";
import { createSecretBox } from "../../base/secrets.ts";
import { openMigrated } from "../../../test/process/migrated-database.ts";
import { Accounts } from "../accounts-store.ts";
import { counterCode, SecondFactors } from "./second-factor.ts";

const SECRET = Buffer.from("12345678901234567890");

test("codes are those of RFC 4226 appendix D and RFC 6238 appendix B", () => {
  const of4226 = Array.from({ length: 10 }, (_, counter) => counterCode(SECRET, counter));
  assert.equal(
    of4226.join(" "),
    "755224 287082 359152 969429 338314 254676 287922 162583 399871 520489",
  );
  for (const [seconds, code] of [
    [59, "94287082"],
    [1_111_111_109, "07081804"],
    [1_111_111_111, "14050471"],
    [1_234_567_890, "89005924"],
    [2_000_000_000, "69279037"],
    [20_000_000_000, "65353130"],
  ] as const) {
    assert.equal(counterCode(SECRET, Math.floor(seconds / 30), 8), code);
  }
});

const VISITOR = { clientAddress: "192.0.2.1", userAgent: "" };
const ANN = {
  id: "a1",
  email: "ann@gatepost.example",
  tier: "free",
  origin: "operator",
  admin: 0,
  created_at_ms: 0,
} as const;

async function worldWith(masterByte = 7) {
  const { db } = await openMigrated(":memory:", 0);
  const clock = manualClock();
  const accounts = new Accounts(db);
  const noted: string[] = [];
  const audit = ({ detail = "" }): Promise<void> => Promise.resolve(void noted.push(detail));
  const factorsWith = (byte: number) => {
    const box = createSecretBox(new Uint8Array(32).fill(byte));
    return new SecondFactors({ accounts, box, audit, clock });
  };
  await accounts.create(ANN);
  const found = async () => (await accounts.find(ANN.id)) ?? assert.fail();
  const factors = factorsWith(masterByte);
  const accepts = async (code: string, by = factors) => by.accepts(await found(), code, VISITOR);
  return { clock, accounts, noted, factors, factorsWith, found, accepts };
}

async function setUp() {
  const world = await worldWith();
  const { factors, clock, found } = world;
  const begun = factors.begin(await found());
  const codeIn = (steps: number): string =>
    counterCode(octetsOf(begun.secret), Math.floor(clock.nowMs() / 30_000) + steps);
  const codes = await factors.finish(await found(), { set_up: begun.set_up, code: codeIn(0) });
  return { ...world, begun, codeIn, codes };
}

test("a code of now, of the step before or after, is accepted once", async () => {
  const { accepts, codeIn, clock } = await setUp();
  assert.equal(await accepts(codeIn(0)), false, "used by the set-up");
  assert.equal(await accepts(codeIn(2)), false, "too early");
  const next = codeIn(1);
  assert.equal(await accepts(` ${next.slice(0, 3)} ${next.slice(3)}`), true);
  assert.equal(await accepts(next), false);
  clock.advance(90_000);
  assert.equal(await accepts(codeIn(-2)), false, "too late");
  assert.equal(await accepts(codeIn(-1)), true);
  assert.equal(await accepts(codeIn(0)), true);
  for (const text of ["", "000000", "12345", "1234567", "٣٣٣٣٣٣"]) {
    assert.equal(await accepts(text), false, text);
  }
});

test("of twenty that bring a code at once one is accepted", async () => {
  const { accepts, codeIn } = await setUp();
  const all = await Promise.all(Array.from({ length: 20 }, () => accepts(codeIn(1))));
  assert.equal(all.filter(Boolean).length, 1);
});

test("ten recovery codes work once each, also with another secret key, and are noted", async () => {
  const { accepts, codes, noted, factorsWith } = await setUp();
  assert.equal(new Set(codes).size, 10);
  assert.match(codes[0] ?? "", /^[A-Z2-7]{16}$/);
  assert.equal(await accepts(codes[0] ?? "", factorsWith(8)), true);
  for (const code of codes.slice(1)) assert.equal(await accepts(code.toLowerCase()), true);
  for (const code of codes) assert.equal(await accepts(code), false);
  assert.equal(noted[0], "a recovery code was used, 9 left");
  assert.equal(noted.length, 10);
});

test("neither the secret nor a code is stored in clear; another secret key cannot read it", async () => {
  const { begun, codes, codeIn, found, accepts, factorsWith } = await setUp();
  const kept = (await found()).secondFactor ?? "";
  const secrets = [begun.secret, octetsOf(begun.secret).toString("base64"), ...codes];
  for (const secret of secrets) {
    assert.equal(kept.includes(secret), false);
  }
  assert.equal(await accepts(codeIn(1), factorsWith(8)), false);
});

test("a set-up needs its first code within 10 minutes, for its own account, once", async () => {
  const { factors, clock, found } = await worldWith();
  const account = await found();
  const { secret, set_up, uri } = factors.begin(account);
  assert.equal(
    uri,
    `otpauth://totp/Gatepost:ann%40gatepost.example?secret=${secret}&issuer=Gatepost`,
  );
  const code = () => counterCode(octetsOf(secret), Math.floor(clock.nowMs() / 30_000));
  await assert.rejects(factors.finish(account, { set_up, code: "000000" }), /not the current code/);
  await assert.rejects(
    factors.finish({ ...account, id: "a2" }, { set_up, code: code() }),
    /is over/,
  );
  await assert.rejects(factors.finish(account, { set_up: "v1:x", code: code() }), /is over/);
  assert.equal((await found()).secondFactor, undefined);
  await factors.finish(account, { set_up, code: code() });
  await assert.rejects(factors.finish(account, { set_up, code: code() }), /is on/);
  const known = await found();
  assert.throws(() => factors.begin(known), /is on/);
  clock.advance(600_000);
  await assert.rejects(factors.finish(account, { set_up, code: code() }), /is over/);
});

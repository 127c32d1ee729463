import assert from "node:assert/strict";
import { generateKeyPairSync, sign } from "node:crypto";
import { test } from "node:test";
import { hookWorld } from "../../../test/policy/hook-world.ts";
import type { HookSystem } from "../../ports/policy/hooks.ts";

/** Payloads as the systems send them; SUB is where the address is. */
const PAYLOADS: Readonly<Record<HookSystem, string>> = {
  supabase: `{"metadata":{"uuid":"8b34dcdd-9df1-4c10-850a-b3277c653040","name":"before-user-created","ip_address":"127.0.0.1"},"user":{"id":"ff7fc9ae-3b1b-4642-9241-64adb9848a03","aud":"authenticated","role":"","email":"SUB","phone":"","identities":[],"is_anonymous":false}}`,
  kratos: `{"identity_id":"00000000-0000-0000-0000-000000000000","email":"SUB","flow_id":"3d1b2c0a-6b0e-4c0b-9f0e-0a2b6d1c9e11","flow_type":"browser"}`,
  zitadel: `{"fullMethod":"/zitadel.user.v2.UserService/CreateUser","instanceID":"344648897353744526","request":{"human":{"profile":{"givenName":"Minnie"},"email":{"email":"SUB"}}}}`,
  fusionauth: `{"event":{"createInstant":1629912352952,"type":"user.create","user":{"active":true,"email":"SUB","verified":true}}}`,
  neon: `{"event_type":"user.before_create","user":{"email":"SUB","name":"Jane Smith"},"event_data":{"ip_address":"192.0.2.1"}}`,
  standard: `{"email":"SUB"}`,
};

const REFUSALS: Readonly<Record<Exclude<HookSystem, "standard">, readonly [number, string]>> = {
  supabase: [200, '{"error":{"http_code":400,"message":"Please use a permanent email address."}}'],
  kratos: [
    400,
    '{"messages":[{"instance_ptr":"#/traits/email","messages":[{"id":1234,"text":"Please use a permanent email address.","type":"error"}]}]}',
  ],
  zitadel: [
    200,
    '{"forwardedStatusCode":400,"forwardedErrorMessage":"Please use a permanent email address."}',
  ],
  fusionauth: [422, '{"error":"Please use a permanent email address."}'],
  neon: [
    200,
    '{"allowed":false,"error_message":"Please use a permanent email address.","error_code":"EMAIL_REJECTED"}',
  ],
};

const ACCEPTED: Readonly<Record<Exclude<HookSystem, "standard">, readonly [number, string]>> = {
  supabase: [200, "{}"],
  kratos: [204, ""],
  zitadel: [200, ""],
  fusionauth: [200, ""],
  neon: [200, '{"allowed":true}'],
};

const SYSTEMS = ["supabase", "kratos", "zitadel", "fusionauth", "neon"] as const;

const neonKey = generateKeyPairSync("ed25519");
const NEON_JWKS = [{ ...neonKey.publicKey.export({ format: "jwk" }), kid: "k1" }];

function neonHeaders(body: string): Record<string, string> {
  const head = Buffer.from('{"alg":"EdDSA","kid":"k1"}').toString("base64url");
  const timestamp = String(performance.timeOrigin + performance.now()).split(".")[0] ?? "";
  const inner = `${timestamp}.${Buffer.from(body).toString("base64url")}`;
  const input = `${head}.${Buffer.from(inner).toString("base64url")}`;
  const signature = sign(null, Buffer.from(input), neonKey.privateKey).toString("base64url");
  return { "x-neon-timestamp": timestamp, "x-neon-signature": `${head}..${signature}` };
}

for (const system of SYSTEMS) {
  test(`${system}: accepted, refused and forged calls are answered in its own words`, async (t) => {
    const world = await hookWorld(t, { jwks: NEON_JWKS });
    const hook = await world.hook(system);
    const call = async (email: string, change: (body: string) => string = (body) => body) => {
      const body = PAYLOADS[system].replace("SUB", email);
      const headers = system === "neon" ? neonHeaders(body) : world.signed(hook, body);
      return await world.post(hook.id, change(body), headers);
    };
    assert.deepEqual(await call("jo@good.example"), ACCEPTED[system]);
    assert.deepEqual(await call("jo@bad.example"), REFUSALS[system]);
    assert.deepEqual(await call(" JO@BAD.EXAMPLE "), REFUSALS[system]);
    assert.deepEqual(await call(""), ACCEPTED[system], "a sign-up by phone has no address");
    // A typo is a challenge, which the hook accepts.
    assert.deepEqual(await call("jo@gmial.com"), ACCEPTED[system]);
    const forged =
      system === "kratos"
        ? await world.post(hook.id, "{}", {})
        : await call("jo@good.example", (body) => `${body} `);
    assert.equal(forged[0], 401);
    assert.equal(await world.units(), 4, "neither the phone nor the forgery costs a unit");
    const [row] = await world.service.list(world.accountId);
    assert.deepEqual(row?.calls, { accepted: 3, refused: 2, failed_open: 0, unauthenticated: 1 });
    assert.equal(row.last_failure?.outcome, "unauthenticated");
  });
}

test("a challenge is refused where the hook says so", async (t) => {
  const world = await hookWorld(t);
  const hook = await world.hook("supabase", "reject");
  const body = PAYLOADS.supabase.replace("SUB", "jo@gmial.com");
  const [status, text] = await world.post(hook.id, body, world.signed(hook, body));
  assert.equal(status, 200);
  assert.match(text, /Did you mean jo@gmail\.com\?/);
});

test("a Standard Webhooks sender gets the decision itself", async (t) => {
  const world = await hookWorld(t);
  const hook = await world.hook("standard");
  const body = PAYLOADS.standard.replace("SUB", "jo@bad.example");
  const [status, text] = await world.post(hook.id, body, world.signed(hook, body));
  assert.equal(status, 200);
  const { decision, reason } = JSON.parse(text) as Record<string, string>;
  assert.deepEqual([decision, reason], ["reject", "disposable"]);
});

test("spent rate and a broken payload let the person through, and the operator sees why", async (t) => {
  const world = await hookWorld(t, { tier: "free" });
  const hook = await world.hook("kratos");
  const body = PAYLOADS.kratos.replace("SUB", "jo@bad.example");
  const headers = world.signed(hook, body);
  for (let call = 0; call < 60; call += 1) await world.post(hook.id, body, headers);
  assert.deepEqual(await world.post(hook.id, body, headers), [204, ""]);
  const [row] = await world.service.list(world.accountId);
  assert.equal(row?.calls.failed_open, 1);
  assert.match(row.last_failure?.why ?? "", /^Rate limit exceeded/);
  assert.deepEqual(await world.post(hook.id, "not json", headers), [204, ""]);
});

test("an unknown hook is 404, a payload over 256 KiB 413", async (t) => {
  const world = await hookWorld(t);
  const hook = await world.hook("zitadel");
  assert.equal((await world.post("0".repeat(32), "{}", {}))[0], 404);
  assert.equal((await world.post(hook.id, "x".repeat(300_000), {}))[0], 413);
});

test("an address that fills its share of bodies is refused, the others are answered", async (t) => {
  const world = await hookWorld(t);
  const hook = await world.hook("kratos");
  const share = world.shares.of("small_bodies");
  const held = share.take("bucket:127.0.0.1", 4_194_304); // as many unfinished calls would
  assert.equal((await world.post(hook.id, PAYLOADS.kratos, {}))[0], 429);
  held.release();
  share.take("bucket:192.0.2.9", 4_194_304);
  assert.equal((await world.post(hook.id, PAYLOADS.kratos, {}))[0], 401);
});

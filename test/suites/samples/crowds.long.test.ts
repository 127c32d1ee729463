import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { gatepost } from "../../e2e/service-process.ts";
import { type Account, createAccount, serviceWorld } from "../../e2e/service-world.ts";
import { temporaryFolder } from "../../process/temporary-folder.ts";
import { honestPeople } from "../../policy/crowd-names.ts";
import { mailZone } from "../../scaled/scaled-world.ts";
import { until } from "../../time/until.ts";
import { guideBlocks } from "./guide-blocks.ts";
import { layClient } from "./guide-tools.ts";

interface Decided {
  readonly decision: string;
  readonly reason: string;
  readonly policy: { readonly version: number };
  readonly mailbox?: { readonly seen?: number };
  readonly counts?: Readonly<Record<string, unknown>>;
}

interface SignUp {
  readonly ip: string;
  readonly body: { readonly email: string; readonly coupon?: string };
}

interface Crowds {
  readonly signUp: (request: SignUp) => Promise<Decided>;
  readonly invite: (
    member: { readonly id: string },
    email: string,
  ) => Promise<{ readonly send: boolean; readonly reason: string; readonly retryAfter?: number }>;
}

suite("docs/guides/crowds.md", () => {
  const folder = temporaryFolder();
  let account: Account | undefined;
  let guide: Crowds | undefined;
  const world = serviceWorld({
    zone: mailZone(["gmail.com", "outlook.com"], 0),
    async begin({ home, service }) {
      account = createAccount(home, "you@example.com");
      layClient(folder);
      const file = join(folder, "crowds.mjs");
      writeFileSync(file, guideBlocks("crowds", "js")[0] ?? "");
      process.env["GATEPOST_URL"] = service.url;
      process.env["GATEPOST_KEY"] = account.api_key;
      guide = (await import(file)) as Crowds;
    },
  });
  const { signUp, invite }: Crowds = {
    // A busy machine may not have read its counts in time, and says so; who signs up counts once, however often asked about.
    signUp: (request) =>
      until(async () => {
        const answer = await (guide ?? assert.fail()).signUp(request);
        const names = request.body.coupon === undefined ? ["ip"] : ["ip", "coupon"];
        const isCounted = names.every((name) => answer.counts?.[name] !== undefined);
        return answer.mailbox?.seen !== undefined && isCounted ? answer : undefined;
      }),
    invite: (member, email) => (guide ?? assert.fail()).invite(member, email),
  };
  const people = honestPeople(100, 3);
  const email = (at: number): string => people[at] ?? assert.fail();

  test("the 21st sign-up from one address is reviewed, and one from another address is not", async () => {
    const said: string[] = [];
    for (let at = 0; at < 21; at += 1) {
      const { decision, reason } = await signUp({ ip: "203.0.113.7", body: { email: email(at) } });
      said.push(`${decision} ${reason}`);
    }
    assert.equal(said.at(-1), "review many", said.join());
    assert.deepEqual(new Set(said.slice(0, 20)), new Set(["accept ok"]));
    const elsewhere = await signUp({ ip: "198.51.100.7", body: { email: email(50) } });
    assert.notEqual(elsewhere.reason, "many");
  });

  test("20 invitations of a member go out, and the next says when", async () => {
    const sent: boolean[] = [];
    for (let at = 60; at < 80; at += 1) sent.push((await invite({ id: "u_12" }, email(at))).send);
    assert.deepEqual(new Set(sent), new Set([true]));
    const { reason, retryAfter = 0 } = await until(async () => {
      const one = await invite({ id: "u_12" }, email(80));
      return one.send ? undefined : one; // an invitation of one mailbox counts once, too
    });
    assert.equal(reason, "many");
    assert.ok(retryAfter > 0 && retryAfter <= 600, String(retryAfter));
    assert.equal((await invite({ id: "u_13" }, email(81))).send, true);
  });

  test("the rule about a coupon holds from the sixth mailbox on", async () => {
    const file = join(folder, "policy.json");
    const [rule = ""] = guideBlocks("crowds", "json");
    writeFileSync(file, `{"rules": [${rule}], "else": "accept"}`);
    const saved = gatepost(world.home, ["policy", "set", account?.account_id ?? "", file]);
    assert.equal(saved.code, 0, saved.err);
    const isInUse = async (): Promise<boolean> => {
      const { policy } = await signUp({ ip: "192.0.2.1", body: { email: email(51) } });
      return policy.version > 1; // the built-in policy is version 1
    };
    // Within 5 s; asked more often the plan's rate would be spent.
    await until(isInUse, { what: "the policy in use", everyMs: 250 });
    const said: string[] = [];
    for (let at = 30; at < 36; at += 1) {
      const body = { email: email(at), coupon: "WELCOME" };
      said.push((await signUp({ ip: `198.51.100.${String(at)}`, body })).reason);
    }
    assert.deepEqual(said, ["ok", "ok", "ok", "ok", "ok", "many"]);
  });
});

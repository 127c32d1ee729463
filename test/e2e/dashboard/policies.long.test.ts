import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "../../time/until.ts";
import { Browser } from "../../dashboard/dashboard-client.ts";
import { gatepost, type ServiceProcess, startService } from "../service-process.ts";
import { createAccount, serviceWorld } from "../service-world.ts";

/** The whole check was run with 100,000 on 2026-11-22. */
const REPLAYED = Number(process.env["REPLAYED_DECISIONS"] ?? 1_500);
const AT_ONCE = 16;
const OWNER = "owner@shop.example";
const PASSWORD = "correct horse battery";

/** Rules about facts of the answer. */
const SHADOW = {
  rules: [
    { when: { disposable: true }, then: "review", reason: "thrown" },
    { when: { typo: true }, then: "reject" },
    { when: { free: true }, then: "challenge" },
    { when: { dns: ["no", "unknown"] }, then: "challenge", reason: "unsure" },
  ],
  else: "accept",
};

/** Names of every kind that those rules tell apart. */
const ZONE = {
  "mx.mail.example": { a: ["192.0.2.25"] },
  "mailinator.com": { mx: ["10 mx.mail.example"] },
  "gmail.com": { mx: ["10 mx.mail.example"] },
  "gmx.de": { mx: ["10 mx.mail.example"] },
  "gmaik.com": { mx: ["10 mx.mail.example"] },
  "silent.example": { behave: "servfail" },
  ...Object.fromEntries(
    Array.from({ length: 20 }, (_, at) => [
      `good${String(at)}.example`,
      { mx: ["10 mx.mail.example"] },
    ]),
  ),
} as const;
const DOMAINS = [
  ...Object.keys(ZONE).filter((name) => !name.startsWith("mx.")),
  "nowhere1.example",
  "nowhere2.example",
];

interface Result {
  readonly disposable: boolean;
  readonly free: boolean;
  readonly dns: boolean;
  readonly signals: readonly string[];
}

interface Answer {
  readonly decision: string;
  readonly reason: string;
  readonly policy: { readonly version: number };
  readonly result: Result;
}

/** What the shadow says, written down once more by hand. */
function expected({ disposable, free, dns, signals }: Result): string {
  if (disposable) return "review";
  if (signals.includes("typo_domain")) return "reject";
  return free || !dns ? "challenge" : "accept";
}

let service: ServiceProcess;
let browser: Browser;
let apiKey = "";
const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });

const world = serviceWorld({
  zone: ZONE,
  settings: { GATEPOST_DNS_CANARIES: "off", LOG_LEVEL: "error" },
  tiers: { pro: { rate_per_minute: null, daily: null, monthly: null } },
  prepare(home) {
    const words = ["--tier", "pro", "--admin", "--password-stdin"];
    apiKey = createAccount(home, OWNER, words, `${PASSWORD}\n`).api_key;
  },
  async begin(started) {
    ({ service } = started);
    started.atEnd(() => agent.destroy());
    await signIn();
  },
});

const signIn = async (): Promise<void> => {
  browser = new Browser(service);
  assert.equal((await browser.signIn(OWNER, PASSWORD)).status, 204);
};

const restart = async (): Promise<void> => {
  await service.stop();
  service = await startService(world.home);
  world.atEnd(() => service.stop());
  await signIn();
};

function decide(email: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "x-api-key": apiKey };
    const asked = request(
      `${service.url}/api/decide`,
      { method: "POST", agent, headers },
      (reply) => {
        let text = "";
        reply.setEncoding("utf8").on("data", (piece: string) => (text += piece));
        reply.once("end", () => {
          if (reply.statusCode === 200) resolve(JSON.parse(text) as Answer);
          else reject(new Error(`${email}: ${String(reply.statusCode)} ${text}`));
        });
      },
    );
    asked.once("error", reject).end(JSON.stringify({ email, deadline_ms: 5_000 }));
  });
}

interface Pair {
  readonly live: string;
  readonly shadow: string;
  readonly count: number;
}

const sorted = (pairs: Iterable<Pair>): readonly string[] =>
  [...pairs].map(({ live, shadow, count }) => `${live} ${shadow} ${String(count)}`).sort();

/** Decides on seeded draws of `DOMAINS` and counts what the live policy and the shadow should say. */
async function replay(): Promise<readonly string[]> {
  const pairs = new Map<string, Pair>();
  let seed = 7;
  let drawn = 0;
  const one = async (): Promise<void> => {
    while (drawn < REPLAYED) {
      const number = drawn;
      drawn += 1;
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
      const domain = DOMAINS[(seed >>> 8) % DOMAINS.length] ?? "";
      const { decision: live, policy, result } = await decide(`jo${String(number % 97)}@${domain}`);
      assert.equal(policy.version, 1);
      const shadow = expected(result);
      const pair = pairs.get(`${live} ${shadow}`) ?? { live, shadow, count: 0 };
      pairs.set(`${live} ${shadow}`, { ...pair, count: pair.count + 1 });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
  return sorted(pairs.values());
}

test("shadow counts are exactly what the live policy would have decided", async (t) => {
  // Counts of traffic would decide otherwise than one answer alone tells.
  assert.equal((await browser.post("traffic", { state: "off" })).status, 204);
  const saved = await browser.post("policies/default/shadow", { document: SHADOW });
  assert.deepEqual([saved.status, saved.json], [200, { name: "default", version: 2 }]);
  const want = await replay();
  assert.ok(want.length >= 5, want.join(", "));
  // Counts are written every few seconds, and when the service stops.
  await restart();
  const report = (await browser.get("policies/default/shadow")).json as {
    readonly total: number;
    readonly pairs: readonly Pair[];
  };
  assert.equal(report.total, REPLAYED);
  assert.deepEqual(sorted(report.pairs), want);
  t.diagnostic(`${String(REPLAYED)} decisions: ${want.join(", ")}`);
});

test("routes: a draft is tried, the shadow promoted and ended, a policy removed", async () => {
  const draft = { rules: [{ when: { role: true }, then: "challenge" }], else: "accept" };
  const entries = ["info@good1.example", "jo@good1.example"];
  const tried = await browser.post("policies/default/test", { document: draft, entries });
  const { results } = tried.json as {
    readonly results: readonly { decision: string; rule: number | null }[];
  };
  assert.deepEqual(
    results.map(({ decision, rule }) => [decision, rule]),
    [
      ["challenge", 0],
      ["accept", null],
    ],
  );
  const wrong = { rules: [{ when: { dns: "maybe" }, then: "reject" }] };
  const refused = await browser.post("policies/default/shadow", { document: wrong });
  assert.equal(refused.status, 400);
  assert.match(refused.text, /rules\[0\]\.when\.dns: \\"maybe\\" is not one of yes, no, unknown/);
  const promoted = await browser.post("policies/default/promote");
  assert.deepEqual(promoted.json, { name: "default", version: 2 });
  assert.equal((await browser.post("policies/default/promote")).status, 409, "no shadow is left");
  const answer = await until(async () => {
    const given = await decide("jo@mailinator.com");
    return given.policy.version === 1 ? undefined : given;
  });
  assert.deepEqual([answer.decision, answer.reason], ["review", "thrown"]);
  assert.equal((await browser.post("policies/default/shadow", { version: 1 })).status, 404);
  assert.equal((await browser.post("policies/default/shadow", { document: draft })).status, 200);
  assert.equal((await browser.delete("policies/default/shadow")).status, 204);
  const page = (await browser.get("policies/default")).json as {
    readonly live: number;
    readonly shadow: number | null;
    readonly versions: readonly { version: number; state: string }[];
  };
  assert.deepEqual([page.live, page.shadow], [2, null]);
  assert.deepEqual(
    page.versions.map(({ version, state }) => `${String(version)} ${state}`),
    ["3 old", "2 live", "1 old"],
  );
  assert.equal((await browser.delete("policies/default")).status, 204);
  const built = (await browser.get("policies/default")).json as { live: number; built_in: boolean };
  assert.deepEqual([built.live, built.built_in], [1, true]);
  assert.equal((await browser.delete("policies/other")).status, 404);
  const audit = (await browser.get("admin/audit")).json as {
    readonly entries: readonly { action: string }[];
  };
  const noted = audit.entries
    .map(({ action }) => action)
    .filter((name) => name.startsWith("policy."));
  assert.ok(noted.length >= 5, noted.join(", "));
});

test("commands: a policy is set, shadowed, promoted, tried and removed", () => {
  const file = join(world.home.directory, "policy.json");
  writeFileSync(file, JSON.stringify(SHADOW));
  const run = (...words: string[]) => {
    const { code, out, err } = gatepost(world.home, ["policy", ...words, "--json"]);
    return { code, json: out === "" ? undefined : (JSON.parse(out) as unknown), err };
  };
  const saved = run("set", OWNER, file, "--name", "strict");
  assert.deepEqual([saved.code, saved.json], [0, { name: "strict", version: 1 }]);
  assert.equal(run("promote", OWNER, "strict").code, 1);
  assert.deepEqual(run("shadow", OWNER, file, "--name", "strict").json, {
    name: "strict",
    version: 2,
  });
  assert.deepEqual(run("promote", OWNER, "strict").json, { name: "strict", version: 2 });
  assert.deepEqual(run("shadow", OWNER, "off", "--name", "strict").json, {
    name: "strict",
    shadow: null,
  });
  const rows = run("list", OWNER).json as readonly { name: string; live: number }[];
  assert.deepEqual(rows.map(({ name, live }) => `${name} ${String(live)}`).sort(), [
    "default 1",
    "invite 1",
    "notify 1",
    "send 1",
    "strict 2",
  ]);
  writeFileSync(file, '{"rules":[{"when":{"disposible":true},"then":"reject"}]}');
  const wrong = run("set", OWNER, file);
  assert.equal(wrong.code, 1);
  assert.match(
    wrong.err,
    /rules\[0\]\.when\.disposible: unknown condition\. Did you mean disposable\?/,
  );
  assert.deepEqual(run("remove", OWNER, "strict").json, { name: "strict", removed: true });
  assert.equal(run("remove", OWNER, "strict").code, 1);
  assert.equal(run("show", "nobody@shop.example").code, 1);
});

test("a hook shows its last call and why the last one failed", async () => {
  const made = (await browser.post("hooks", { system: "standard" })).json as { id: string };
  const row = async () => {
    const { hooks } = (await browser.get("hooks")).json as {
      readonly hooks: readonly {
        readonly id: string;
        readonly last_call: { readonly outcome: string } | null;
        readonly last_failure: { readonly outcome: string; readonly why: string | null } | null;
      }[];
    };
    return hooks.find(({ id }) => id === made.id);
  };
  assert.deepEqual([(await row())?.last_call, (await row())?.last_failure], [null, null]);
  const forged = await fetch(`${service.url}/hooks/${made.id}`, { method: "POST", body: "{}" });
  assert.equal(forged.status, 401);
  await browser.post(`hooks/${made.id}/test`);
  await restart();
  const after = await row();
  assert.equal(after?.last_failure?.outcome, "unauthenticated");
  assert.notEqual(after.last_call, null);
});

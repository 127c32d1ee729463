import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as rest } from "node:timers/promises";
import { dnsClient } from "../../test/dns/dns-client.ts";
import { startDnsServer } from "../../test/dns/dns-server.ts";
import { type ServedName, SERVING_MODES } from "../../test/dns/dns-zone.ts";
import { type GateWorld, gateWorld } from "../../test/policy/gate-world.ts";
import { givenTime } from "../../test/time/given-time.ts";
import type { Admitted } from "../accounts/admission/admission.ts";

/** Of each mode; all of them together ask 200 a second. */
const DECISIONS = Number(process.env["DEADLINE_DECISIONS"] ?? 30);
const DEADLINES_MS = [50, 150, 400, 1_000];
const GRACE_MS = 50;
const LISTED = "bad.example";

const PACE_MS = SERVING_MODES.length * 5;

const fresh = (at: number): string => `d${String(at)}.example`;
const unknown = () => ({ kind: "unknown", why: "timeout" }) as const;

interface Mode {
  readonly name: string;
  readonly world: GateWorld;
  readonly admitted: Admitted;
}

const closers: (() => unknown)[] = [];
const modes: Mode[] = [];
const given = givenTime();

before(async () => {
  for (const name of SERVING_MODES) modes.push(await openMode(name));
});

after(async () => {
  given.stop();
  for (const close of closers.toReversed()) await close();
});

async function openMode(name: (typeof SERVING_MODES)[number]): Promise<Mode> {
  const fails: ServedName =
    name === "right" ? {} : name === "slow" ? { delayMs: 700 } : { behave: name };
  const zone: Record<string, ServedName> = { "mx.mail.example": { a: ["192.0.2.25"], ...fails } };
  const mail = { mx: ["10 mx.mail.example"], ...fails };
  for (let at = 0; at < DECISIONS; at += 1) zone[fresh(at)] = mail;
  zone[LISTED] = mail;
  const server = await startDnsServer(zone);
  const dns = dnsClient([{ host: server.host, port: server.port }]);
  closers.push(
    () => server.close(),
    () => dns.close(),
  );
  const lookup = { ...dns, registration: unknown };
  const keep = { after: (close: unknown): void => void closers.push(close as () => unknown) };
  const world = await gateWorld(keep, { lookup, known: { curated: [LISTED] } });
  const { apiKey } = await world.account("jo@shop.example");
  const key = { apiKey: [apiKey], authorization: [] };
  return { name, world, admitted: await world.admission.enter(key, "127.0.0.1") };
}

const REQUEST = {
  policy: "default",
  waitedMs: 0,
  language: "en",
  facts: new Map(),
  wantsToken: false,
};

interface Late {
  readonly mode: string;
  readonly beyondMs: number;
}

async function decide(mode: Mode, at: number): Promise<Late> {
  const isListed = at % 5 === 4;
  const deadlineMs = DEADLINES_MS[at % DEADLINES_MS.length] ?? 0;
  const text = `jo${String(at)}@${isListed ? LISTED : fresh(at)}`;
  const startedMs = given.nowMs();
  const answer = await mode.world.decideOne(mode.admitted, { ...REQUEST, text, deadlineMs });
  const beyondMs = given.nowMs() - startedMs - deadlineMs;
  const said = `${answer.decision} ${answer.reason}`;
  const allowed = isListed ? ["reject disposable"] : ["accept ok", "accept unknown"];
  assert.ok(allowed.includes(said), `${mode.name} ${text}: ${said}`);
  return { mode: mode.name, beyondMs };
}

test("every decision is there by its deadline and 50 ms, however DNS fails, and a listed name is rejected", async (t) => {
  const asked: Promise<Late>[] = [];
  for (let at = 0; at < DECISIONS; at += 1) {
    for (const mode of modes) asked.push(decide(mode, at));
    await rest(PACE_MS);
  }
  const answered = await Promise.all(asked);
  const late = answered.filter(({ beyondMs }) => beyondMs > GRACE_MS);
  const worst = answered.reduce((most, { beyondMs }) => Math.max(most, beyondMs), -Infinity);
  t.diagnostic(
    `${String(answered.length)} decisions, worst ${worst.toFixed(0)} ms beyond the deadline`,
  );
  assert.deepEqual(late, []);
});

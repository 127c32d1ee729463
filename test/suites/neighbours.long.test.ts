// What callers can take from each other, against a real server with the shipped limits: by counts, never by time.
import { strict as assert } from "node:assert";
import { after, before, test } from "node:test";
import { startNameServer, type NameServer } from "../dns/numbered-names.ts";
import { Attacker } from "../neighbours/attacker.ts";
import { ATTACKS, type Attack } from "../neighbours/attacks.ts";
import { startWatched, type WatchedService } from "../neighbours/watched-service.ts";
import { until } from "../time/until.ts";

const ATTACKERS = 3;
/** Of the 1 GiB that are shipped; one service under all attacks in turn has had up to 551 MB. */
const RSS_MAX_OCTETS = 768 * 1_048_576;

/** Single checks and entries of a list of the victim beside each attack. */
const CHECKS = 10;
const ENTRIES = 300;

/** Of the bodies those that differ most in what reads them. */
const BODIES = new Set([
  "encoded list",
  "JSON 249,000 items",
  "parts, 1,000",
  "file: JSON lines",
  "file: blanks",
  "file: shared strings",
]);

const attacks = ATTACKS.filter(({ row, name }) => row !== 6 || BODIES.has(name));

let dns: NameServer;
let service: WatchedService;

before(async () => {
  // One name in ten is never answered.
  dns = await startNameServer({ delayMs: 0, lossShare: 0, deadEvery: 10 });
  service = await startWatched({ dns: dns.address, keys: ATTACKERS });
});

after(async () => {
  await service.stop();
  dns.stop();
});

let names = 0;

/** Never asked before, and answered. */
function freshName(): string {
  names += 1;
  return `d${String(names)}1.victim.co`;
}

async function ask(path: string, form?: string): Promise<{ status: number; body: string }> {
  const init =
    form === undefined ? {} : { method: "POST", body: form, headers: { "content-type": FORM } };
  const response = await fetch(`http://127.0.0.1:${String(service.port)}${path}`, {
    ...init,
    headers: { ...init.headers, "x-api-key": service.victimKey },
  });
  return { status: response.status, body: await response.text() };
}

const FORM = "application/x-www-form-urlencoded";

async function checksAnswered(): Promise<number> {
  const asked = Array.from({ length: CHECKS }, async (_, at) => {
    const entry = `ada@${freshName()}`;
    return at % 2 === 0
      ? await ask(`/api/email/${entry}`)
      : await ask("/api/email", `email=${entry}`);
  });
  const answers = await Promise.all(asked);
  return answers.filter(({ status, body }) => status === 200 && body.includes('"dns":true')).length;
}

/** How many entries of a list of the victim are valid. */
async function listValidated(): Promise<number> {
  const list = Array.from({ length: ENTRIES }, freshName).join("%0A");
  const queued = await ask("/api/domain", `bulk=1&domain=${list}`);
  assert.equal(queued.status, 200, queued.body);
  const { session } = JSON.parse(queued.body) as { readonly session: string };
  const valid = await until(async () => {
    const { body } = await ask(`/api/view/${session}`);
    return body.startsWith("{") ? undefined : body;
  });
  return valid.trim().split("\n").length;
}

function begin(attack: Attack, net: number): readonly Attacker[] {
  const { port, keys } = service;
  const line = { freeAtMs: 0 };
  const addressOf = (index: number): string => `127.${String(net)}.1.${String(index + 1)}`;
  const attackers = Array.from(
    { length: ATTACKERS },
    (_, index) => new Attacker(index, { port, keys, addressOf, line }),
  );
  for (const attacker of attackers) void attack.run(attacker, ATTACKERS);
  return attackers;
}

for (const [at, attack] of attacks.entries()) {
  test(`a caller is served beside this attack: ${attack.name}`, async () => {
    const attackers = begin(attack, at + 1);
    try {
      await until(() => attackers.some(({ reached }) => reached > 0));
      assert.equal(await checksAnswered(), CHECKS);
      assert.equal(await listValidated(), ENTRIES);
    } finally {
      for (const attacker of attackers) attacker.stop();
    }
    assert.ok(service.isRunning());
    const { peakRss } = await service.watched();
    assert.ok(peakRss <= RSS_MAX_OCTETS, `${String(peakRss)} octets resident`);
  });
}

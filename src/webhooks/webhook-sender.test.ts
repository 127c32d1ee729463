import { strict as assert } from "node:assert";
import { Socket } from "node:net";
import { test } from "node:test";
import type { Answer } from "../core/mail/lookup.ts";
import { type WebhookPost, createWebhookSender } from "./webhook-sender.ts";
import { readWebhookUrl } from "./configure.ts";
import { realClock } from "../../test/time/real-clock.ts";
import { createPublicHostCheck } from "../outbound/dial.ts";

/** A small generator of its own (mulberry32), so that a failing round can be run again. */
function dice(seed: number) {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  const pick = <T>(list: readonly [T, ...T[]]): T => list[below(list.length)] ?? list[0];
  return { below, pick };
}

const numberOf = (address: string): number =>
  address.split(".").reduce((sum, octet) => sum * 256 + Number(octet), 0);

/** First and last addresses of what is not public, to judge apart from the code under test. */
const NOT_PUBLIC = [
  ["0.0.0.0", "0.255.255.255"],
  ["10.0.0.0", "10.255.255.255"],
  ["100.64.0.0", "100.127.255.255"],
  ["127.0.0.0", "127.255.255.255"],
  ["169.254.0.0", "169.254.255.255"],
  ["172.16.0.0", "172.31.255.255"],
  ["192.0.0.0", "192.0.0.255"],
  ["192.0.2.0", "192.0.2.255"],
  ["192.88.99.0", "192.88.99.255"],
  ["192.168.0.0", "192.168.255.255"],
  ["198.18.0.0", "198.19.255.255"],
  ["198.51.100.0", "198.51.100.255"],
  ["203.0.113.0", "203.0.113.255"],
  ["224.0.0.0", "255.255.255.255"],
] as const;

const isPublicV4 = (address: string): boolean =>
  !NOT_PUBLIC.some(
    ([first, last]) => numberOf(address) >= numberOf(first) && numberOf(address) <= numberOf(last),
  );

/** Of the IPv6 addresses below only this one is public. */
const PUBLIC_V6 = "2606:4700::1111";
const isPublic = (address: string): boolean =>
  address.includes(":") ? address === PUBLIC_V6 : isPublicV4(address);

const NETWORKS = [
  "0.0.0",
  "10.0.0",
  "100.64.3",
  "127.0.0",
  "169.254.169",
  "172.16.5",
  "172.31.255",
  "192.0.0",
  "192.0.2",
  "192.88.99",
  "192.168.1",
  "198.18.0",
  "198.51.100",
  "203.0.113",
  "224.0.0",
  "240.0.0",
  "255.255.255",
  "8.8.8",
  "93.184.216",
  "172.32.0",
  "11.0.0",
  "100.128.0",
] as const;

const pad4 = (value: number): string => value.toString(16).padStart(4, "0");

function v6Around(address: string, pick: <T>(list: readonly [T, ...T[]]) => T): string {
  const [a = 0, b = 0, c = 0, d = 0] = address.split(".").map(Number);
  const [high, low] = [pad4(a * 256 + b), pad4(c * 256 + d)];
  return pick([
    "::1",
    "::",
    "fe80::1",
    "fd00:ec2::254",
    "ff02::1",
    "2001:db8::1",
    PUBLIC_V6,
    `::ffff:${address}`,
    `::ffff:${high}:${low}`,
    `::${address}`,
    `::ffff:0:${address}`,
    `64:ff9b::${address}`,
    `64:ff9b:1::${high}:${low}`,
    `2002:${high}:${low}::1`,
    `2001:0:${high}:${low}::1`,
    `2a02:4f8:17::5efe:${high}:${low}`,
    `2a02:4f8:17::200:5efe:${high}:${low}`,
  ]);
}

/** Spellings of an address that one parser or another takes for it. */
function spelling(address: string, { below, pick }: ReturnType<typeof dice>): string {
  const [a = 0, b = 0, c = 0, d = 0] = address.split(".").map(Number);
  const whole = ((a * 256 + b) * 256 + c) * 256 + d;
  return pick([
    address,
    address,
    address,
    `[${v6Around(address, pick)}]`,
    `[${v6Around(address, pick)}]`,
    String(whole),
    `0x${whole.toString(16)}`,
    `0${whole.toString(8)}`,
    `${String(a)}.${String(b * 65_536 + c * 256 + d)}`,
    `0x${a.toString(16)}.${String(b)}.${String(c)}.${String(d)}`,
    `0${a.toString(8)}.${String(b)}.${String(c)}.${String(d)}`,
    `${address}.`,
    `${address.replaceAll(".", "。")}`,
    `user@${address}`,
    `hook.example@${address}`,
    `${address}:443@hook.example`,
    `hook.example\\@${address}`,
    `${address}%2f`,
    `n${String(below(5_000))}.example`,
    `n${String(below(5_000))}.EXAMPLE`,
    `n${String(below(5_000))}.example.`,
    "localhost",
    `${address}.in-addr.arpa`,
  ]);
}

test("of ten thousand generated URLs no request goes to an address that is not public", async () => {
  const random = dice(20_261_120);
  const address = () => `${random.pick(NETWORKS)}.${String(random.below(256))}`;
  const dialled: string[] = [];
  const addresses = (): Answer<string> => ({
    kind: "found",
    records: Array.from({ length: 1 + random.below(3) }, () =>
      random.below(3) === 0 ? v6Around(address(), random.pick) : address(),
    ),
  });
  const connect = (to: string): Socket => {
    dialled.push(to);
    return new Socket().destroy(new Error("no network in tests"));
  };
  const deps = { addresses, clock: realClock, connect };
  const sender = createWebhookSender(deps);
  const checkHost = createPublicHostCheck(deps);
  const counts = { refusedAtSave: 0, saved: 0 };
  for (let round = 0; round < 10_000; round += 1) {
    const port = random.pick(["", "", ":443", ":8443", ":25", ":0"]);
    const url = `${random.pick(["https", "https", "https", "HTTPS", "http"])}://${spelling(address(), random)}${port}/x`;
    const read = readWebhookUrl(url);
    if (read.ok && (await checkHost(read.host)) === undefined) {
      counts.saved += 1;
      await sender.post(postTo(read.url));
    } else {
      counts.refusedAtSave += 1;
      // As if the row had come into the database by any other way: connect is guarded by itself.
      await sender.post(postTo(url));
    }
  }
  assert.deepEqual(
    dialled.filter((to) => !isPublic(to)),
    [],
  );
  assert.ok(
    dialled.length > 500 && counts.saved > 100 && counts.refusedAtSave > 5_000,
    JSON.stringify(counts),
  );
});

const postTo = (url: string): WebhookPost => ({
  url,
  event: "test.ping",
  body: new TextEncoder().encode("{}"),
  signature: "0".repeat(64),
});

test("in a thousand rounds of rebinding only what was checked is dialled, whatever DNS says next", async () => {
  const random = dice(7);
  const answers = [
    "93.184.216.34",
    "127.0.0.1",
    "169.254.169.254",
    "10.0.0.1",
    "::ffff:7f00:1",
    PUBLIC_V6,
  ] as const;
  const dialled: string[] = [];
  let asked = 0;
  const deps = {
    addresses: (): Answer<string> => {
      asked += 1;
      return { kind: "found", records: [random.pick(answers)] };
    },
    clock: realClock,
    connect: (to: string): Socket => {
      dialled.push(to);
      return new Socket().destroy(new Error("no network in tests"));
    },
  };
  const sender = createWebhookSender(deps);
  const checkHost = createPublicHostCheck(deps);
  let passed = 0;
  for (let round = 0; round < 1_000; round += 1) {
    if ((await checkHost("rebind.example")) === undefined) passed += 1;
    const before = asked;
    const result = await sender.post(postTo("https://rebind.example/"));
    assert.equal(result.ok, false);
    assert.equal(asked, before + 1, "the name is resolved once for each attempt");
  }
  assert.deepEqual(
    dialled.filter((to) => !isPublic(to)),
    [],
  );
  assert.ok(passed > 200 && dialled.length > 200);
});

test("nothing is sent without TLS, whatever a row says", async () => {
  const sender = createWebhookSender({
    addresses: () => assert.fail("nothing to resolve"),
    clock: realClock,
  });
  assert.deepEqual(await sender.post(postTo("http://hook.example/")), {
    ok: false,
    fault: "bad_url",
  });
});

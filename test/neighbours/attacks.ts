import type { Answered, Attacker } from "./attacker.ts";
import { BODY_NAMES, type BodyName, makeBody, type SentBody } from "./bodies.ts";
import {
  idleConnections,
  keepOpen,
  octetChunks,
  pipelining,
  type Run,
  slowHeads,
  stalledBodies,
  stalledUploads,
  unfinishedRequests,
  unreadPages,
} from "./kept-connections.ts";

/** One way in which callers may take the service from others. */
export interface Attack {
  /** Of the seven ways that design of shares knows; bodies are the sixth. */
  readonly row: number;
  readonly name: string;
  readonly run: Run;
}

/** Requests that an address without a key may send in a minute. */
const ANONYMOUS_BURST = 28;

/** Of the name server under test: it never answers for a number that ends in 7. */
const silentName = (at: number): string => `d${String(at)}7.silent.co`;
const liveName = (at: number): string => `d${String(at)}1.live.co`;
/** With 60 mail hosts of its own. */
const manyHostsName = (at: number): string => `d${String(at)}1.hosts.co`;

const made = new Map<BodyName, SentBody>();

function bodyOf(name: BodyName): SentBody {
  const body = made.get(name) ?? makeBody(name);
  made.set(name, body);
  return body;
}

/** As many of one body at once as the rate of an address allows. */
const flood =
  (name: BodyName, atOnce = ANONYMOUS_BURST): Run =>
  (attacker) => {
    const body = bodyOf(name);
    return attacker.repeat(atOnce, () => attacker.ask(body));
  };

let submitted = 0;

/** The list that each attacker has running, by its number: an account has one, also from an earlier round. */
const running = new Map<number, string>();

/** A list of so many names, by an account without a paid plan. */
async function submit(
  attacker: Attacker,
  names: number,
  nameOf: (at: number) => string = silentName,
): Promise<Answered> {
  const first = attacker.index * 1_000_000 + submitted * names;
  submitted += 1;
  const list = Array.from({ length: names }, (_, at) => nameOf(first + at));
  const octets = Buffer.from(`bulk=1&domain=${list.join("%0A")}`);
  const headers = attacker.key("free");
  const answer = await attacker.ask({ path: "/api/domain", type: FORM, octets, headers });
  const session = sessionIn(answer);
  if (session !== undefined) running.set(attacker.index, session);
  return answer;
}

const FORM = "application/x-www-form-urlencoded";

const sessionIn = ({ body }: Answered): string | undefined =>
  /"session": ?"([0-9a-f]{32})"/.exec(body)?.[1];

const silentNames: Run = (attacker) =>
  attacker.repeat(1, async () => {
    const answer = await submit(attacker, 4_500);
    const session = running.get(attacker.index);
    if (session === undefined) return answer;
    await attacker.wait(2_000);
    const headers = attacker.key("free");
    return attacker.ask({ method: "DELETE", path: `/api/view/${session}`, headers });
  });

const signIns: Run = (attacker, attackers) => {
  const octets = Buffer.from('{"email":"nobody@accounts.example","password":"not the password"}');
  const headers = { origin: "http://127.0.0.1", host: "127.0.0.1" };
  const order = { path: "/account/sign-in", type: "application/json", octets, headers };
  return attacker.repeat(Math.max(4, 200 / attackers), () => attacker.ask(order));
};

/** Readers that never read. */
const viewStreams: Run = async (attacker) => {
  const list = Array.from({ length: 9_000 }, (_, at) =>
    `not an entry ${String(at)}`.replaceAll(" ", "_"),
  );
  const octets = Buffer.from(`bulk=1&email=${list.join("%0A")}`);
  const headers = attacker.key("free");
  const session = sessionIn(
    await attacker.ask({ path: "/api/email", type: FORM, octets, headers }),
  );
  await attacker.wait(500);
  const { "x-api-key": key = "" } = headers;
  const text = `GET /api/view/${session ?? ""}/json HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: ${key}\r\n\r\n`;
  await keepOpen(attacker, { count: 50, text, use: (socket) => void socket?.pause() });
};

/** Requests that nobody counts, with all of the target that is permitted. */
const longTargets: Run = (attacker, attackers) => {
  const path = `/healthz?${"a&".repeat(30_000)}`;
  const atOnce = Math.min(250, Math.ceil(8_000 / attackers));
  return attacker.repeat(atOnce, () => attacker.ask({ method: "GET", path }));
};

/** Small lists of such names, whose callers wait for the answers. */
const silentBatches: Run = (attacker) =>
  attacker.repeat(8, () => {
    submitted += 1;
    const first = attacker.index * 1_000_000 + submitted * 100;
    const list = Array.from({ length: 100 }, (_, at) => silentName(first + at));
    const octets = Buffer.from(`bulk=1&domain=${list.join("%0A")}`);
    return attacker.ask({ path: "/api/domain", type: FORM, octets });
  });

/** Lists that nobody ends. */
const lists =
  (names: number, nameOf: (at: number) => string): Run =>
  (attacker) =>
    attacker.repeat(1, async () => {
      const answer = await submit(attacker, names, nameOf);
      await attacker.wait(300);
      return answer;
    });

let askedSlow = 0;

/** As many questions as may wait for one registry. */
const slowRegistries: Run = (attacker) =>
  attacker.repeat(11, async () => {
    askedSlow += 1;
    const name = `d${String(attacker.index * 1_000_000 + askedSlow)}1.slow`;
    const headers = attacker.key("starter");
    const path = `/api/domain/${name}/domain_age`;
    const answer = await attacker.ask({ method: "GET", path, headers });
    await attacker.wait(1_000); // the others may have taken all places
    return answer;
  });

/** Short lists, whose owner's receiver hangs. */
const slowWebhooks: Run = (attacker) => {
  const list = Array.from({ length: 101 }, (_, at) => `not_an_entry_${String(at)}`).join("%0A");
  const octets = Buffer.from(`bulk=1&email=${list}`);
  const order = { path: "/api/email", type: FORM, octets, headers: attacker.key("free") };
  return attacker.repeat(1, async () => {
    const answer = await attacker.ask(order);
    await attacker.wait(1_000);
    return answer;
  });
};

let askedPremium = 0;

/** Checks that ask DNS some 40 questions each, of names that nobody has asked for. */
const premiumChecks: Run = (attacker) =>
  attacker.repeat(10, () => {
    askedPremium += 1;
    const name = `d${String(attacker.index * 1_000_000 + askedPremium)}1.premium.co`;
    const path = `/api/domain/${name}?features=spf,dkim,dmarc,inbox_provider,deliverability_score`;
    return attacker.ask({ method: "GET", path, headers: attacker.key("starter") });
  });

/** Requests that nobody counts, with 9 KB of header fields. */
const manyFields: Run = (attacker, attackers) => {
  const names = Array.from({ length: 90 }, (_, at) => `x-${String(at)}`);
  const headers = Object.fromEntries(names.map((name) => [name, "a".repeat(100)]));
  const atOnce = Math.min(250, Math.ceil(5_000 / attackers));
  return attacker.repeat(atOnce, () => attacker.ask({ method: "GET", path: "/healthz", headers }));
};

const smallUploads: Run = (attacker) => {
  const file = `--x\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\n${"a@b.co\n".repeat(90)}\r\n--x--\r\n`;
  const type = "multipart/form-data; boundary=x";
  const order = { path: "/api/bulk/upload", type, octets: Buffer.from(file) };
  return attacker.repeat(ANONYMOUS_BURST, () => attacker.ask(order));
};

const OTHERS: readonly Attack[] = [
  { row: 1, name: "splitting", run: flood("wide names") },
  { row: 2, name: "memory", run: flood("short tokens") },
  { row: 3, name: "stalled bodies", run: stalledBodies },
  { row: 3, name: "stalled uploads", run: stalledUploads },
  { row: 3, name: "small uploads", run: smallUploads },
  { row: 4, name: "silent names", run: silentNames },
  { row: 4, name: "silent lists", run: lists(3_000, silentName) },
  { row: 4, name: "long lists", run: lists(9_000, liveName) },
  { row: 4, name: "lists of many hosts", run: lists(9_000, manyHostsName) },
  { row: 4, name: "silent batches", run: silentBatches },
  { row: 4, name: "premium checks", run: premiumChecks },
  { row: 5, name: "idle connections", run: idleConnections },
  { row: 5, name: "slow heads", run: slowHeads },
  { row: 5, name: "long targets", run: longTargets },
  { row: 5, name: "pipelining", run: pipelining },
  { row: 5, name: "many fields", run: manyFields },
  { row: 5, name: "unfinished requests", run: unfinishedRequests },
  { row: 6, name: "one-octet chunks", run: octetChunks },
  { row: 7, name: "sign-ins", run: signIns },
  { row: 7, name: "unread results", run: viewStreams },
  { row: 7, name: "unread pages", run: unreadPages },
  { row: 7, name: "slow registries", run: slowRegistries },
  { row: 7, name: "slow webhooks", run: slowWebhooks },
];

/** The bodies of the first two attacks are no others. */
const PARSED = BODY_NAMES.filter((name) => !["wide names", "short tokens"].includes(name));

export const ATTACKS: readonly Attack[] = [
  ...OTHERS,
  ...PARSED.map((name) => ({ row: 6, name, run: flood(name) })),
];

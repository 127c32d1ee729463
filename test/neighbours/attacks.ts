import type { Socket } from "node:net";
import type { Answered, Attacker } from "./attacker.ts";
import { BODY_NAMES, type BodyName, makeBody, type SentBody } from "./bodies.ts";

/** One way in which callers may take the service from others. */
export interface Attack {
  /** Of the seven ways that design of shares knows; bodies are the sixth. */
  readonly row: number;
  readonly name: string;
  /** What one attacker does until it is over; `attackers` is how many there are. */
  readonly run: (attacker: Attacker, attackers: number) => Promise<void>;
}

/** Requests that an address without a key may send in a minute. */
const ANONYMOUS_BURST = 28;

/** Of the name server under test: it never answers for a number that ends in 7. */
const silentName = (at: number): string => `d${String(at)}7.silent.co`;

const made = new Map<BodyName, SentBody>();

function bodyOf(name: BodyName): SentBody {
  const body = made.get(name) ?? makeBody(name);
  made.set(name, body);
  return body;
}

/** As many of one body at once as the rate of an address allows. */
const flood =
  (name: BodyName, atOnce = ANONYMOUS_BURST): Attack["run"] =>
  (attacker) => {
    const body = bodyOf(name);
    return attacker.repeat(atOnce, () => attacker.ask(body));
  };

const DRIP_EVERY_MS = 500;
const DRIP = Buffer.alloc(3_000, "a");

/** Sends on just fast enough. */
function drip(socket: Socket | undefined): void {
  if (socket === undefined) return;
  socket.resume();
  const timer = setInterval(() => void socket.write(DRIP), DRIP_EVERY_MS);
  socket.once("close", () => clearInterval(timer));
}

const headText = (lines: readonly string[]): string =>
  `${["POST /api/email?bulk=1 HTTP/1.1", "host: 127.0.0.1", ...lines].join("\r\n")}\r\n\r\n`;

async function keepOpen(attacker: Attacker, { count, text, use }: KeptOpen): Promise<void> {
  const loop = async (): Promise<void> => {
    while (!attacker.isOver) {
      const socket = await attacker.connection(text);
      use(socket);
      await new Promise<void>((resolve) => {
        if (socket === undefined || socket.destroyed) resolve();
        else socket.once("close", () => resolve());
      });
      await attacker.wait(1_000);
    }
  };
  const begun: Promise<void>[] = [];
  for (let at = 0; at < count && !attacker.isOver; at += 1) {
    begun.push(loop());
    if (at % 100 === 99) await attacker.wait(20);
  }
  await Promise.all(begun);
}

interface KeptOpen {
  readonly count: number;
  readonly text: string;
  readonly use: (socket: Socket | undefined) => void;
}

const stalledBodies: Attack["run"] = (attacker) => {
  const { "x-api-key": key = "" } = attacker.key("starter");
  const text = headText([
    `x-api-key: ${key}`,
    "content-type: application/x-www-form-urlencoded",
    "content-length: 6000000",
  ]);
  return keepOpen(attacker, { count: 45, text: `${text}email=${"a".repeat(300_000)}`, use: drip });
};

const stalledUploads: Attack["run"] = (attacker) => {
  const text = headText([
    "content-type: multipart/form-data; boundary=x",
    "content-length: 20000000",
  ]).replace("/api/email?bulk=1", "/api/bulk/upload");
  const start = `--x\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\n`;
  const use = drip;
  return keepOpen(attacker, { count: 4, text: `${text}${start}${"a\n".repeat(1_000_000)}`, use });
};

const idleConnections: Attack["run"] = (attacker, attackers) => {
  const text = "GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n";
  const count = Math.ceil(10_000 / attackers);
  return keepOpen(attacker, { count, text, use: (socket) => void socket?.resume() });
};

/** Sends `text` over and over, as fast as it is taken. */
const pour =
  (text: string): KeptOpen["use"] =>
  (socket) => {
    if (socket === undefined) return;
    const octets = Buffer.from(text.repeat(Math.ceil(65_536 / text.length)));
    const more = (): void => {
      while (socket.writable && socket.write(octets));
    };
    socket.resume().on("drain", more);
    more();
  };

/** Requests that do not wait for the answers before them. */
const pipelining: Attack["run"] = (attacker) => {
  const text = "GET /api/email/jo@good.co HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n";
  return keepOpen(attacker, { count: 2, text, use: pour(text) });
};

const octetChunks: Attack["run"] = (attacker) => {
  const type = "content-type: application/x-www-form-urlencoded";
  const text = headText([type, "transfer-encoding: chunked"]);
  return keepOpen(attacker, { count: 2, text, use: pour("1\r\na\r\n") });
};

let submitted = 0;

/** The list that each attacker has running, by its number: an account has one, also from an earlier round. */
const running = new Map<number, string>();

/** A list of names whose name server is silent, by an account without a paid plan. */
async function submitSilent(attacker: Attacker, names: number): Promise<Answered> {
  const first = attacker.index * 1_000_000 + submitted * names;
  submitted += 1;
  const list = Array.from({ length: names }, (_, at) => silentName(first + at));
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

const silentNames: Attack["run"] = (attacker) =>
  attacker.repeat(1, async () => {
    const answer = await submitSilent(attacker, 4_500);
    const session = running.get(attacker.index);
    if (session === undefined) return answer;
    await attacker.wait(2_000);
    const headers = attacker.key("free");
    return attacker.ask({ method: "DELETE", path: `/api/view/${session}`, headers });
  });

const signIns: Attack["run"] = (attacker, attackers) => {
  const octets = Buffer.from('{"email":"nobody@accounts.example","password":"not the password"}');
  const headers = { origin: "http://127.0.0.1", host: "127.0.0.1" };
  const order = { path: "/account/sign-in", type: "application/json", octets, headers };
  return attacker.repeat(Math.max(4, 200 / attackers), () => attacker.ask(order));
};

const eventStreams: Attack["run"] = async (attacker) => {
  await submitSilent(attacker, 3_000);
  const { "x-api-key": key = "" } = attacker.key("free");
  const path = `/api/view/${running.get(attacker.index) ?? ""}/events`;
  const text = `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: ${key}\r\n\r\n`;
  await keepOpen(attacker, { count: 50, text, use: (socket) => void socket?.resume() });
};

/** Readers that never read. */
const viewStreams: Attack["run"] = async (attacker) => {
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

/** Heads whose end never comes. */
const slowHeads: Attack["run"] = (attacker, attackers) => {
  const text = `GET /api/email/${"a".repeat(60_000)}`;
  const count = Math.ceil(8_000 / attackers);
  return keepOpen(attacker, { count, text, use: (socket) => void socket?.resume() });
};

/** Requests that nobody counts, with all of the target that is permitted. */
const longTargets: Attack["run"] = (attacker, attackers) => {
  const path = `/healthz?${"a&".repeat(30_000)}`;
  const atOnce = Math.min(250, Math.ceil(8_000 / attackers));
  return attacker.repeat(atOnce, () => attacker.ask({ method: "GET", path }));
};

/** Answers that cost nothing to ask for, and are never read. */
const unreadPages: Attack["run"] = (attacker, attackers) => {
  const text = "GET /openapi.json HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".repeat(16);
  const count = Math.ceil(10_000 / attackers);
  return keepOpen(attacker, { count, text, use: (socket) => void socket?.pause() });
};

const reports: Attack["run"] = (attacker) => {
  const headers = attacker.key("starter");
  const octets = Buffer.from("entry=good.co&wrong=disposable");
  return attacker.repeat(20, () =>
    attacker.ask({ path: "/api/report", type: FORM, octets, headers }),
  );
};

/** Small lists of such names, whose callers wait for the answers. */
const silentBatches: Attack["run"] = (attacker) =>
  attacker.repeat(8, () => {
    submitted += 1;
    const first = attacker.index * 1_000_000 + submitted * 100;
    const list = Array.from({ length: 100 }, (_, at) => silentName(first + at));
    const octets = Buffer.from(`bulk=1&domain=${list.join("%0A")}`);
    return attacker.ask({ path: "/api/domain", type: FORM, octets });
  });

/** Lists that nobody ends. */
const silentLists: Attack["run"] = (attacker) =>
  attacker.repeat(1, async () => {
    const answer = await submitSilent(attacker, 3_000);
    await attacker.wait(300);
    return answer;
  });

let askedSlow = 0;

/** As many questions as may wait for one registry. */
const slowRegistries: Attack["run"] = (attacker) =>
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
const slowWebhooks: Attack["run"] = (attacker) => {
  const list = Array.from({ length: 101 }, (_, at) => `not_an_entry_${String(at)}`).join("%0A");
  const octets = Buffer.from(`bulk=1&email=${list}`);
  const order = { path: "/api/email", type: FORM, octets, headers: attacker.key("free") };
  return attacker.repeat(1, async () => {
    const answer = await attacker.ask(order);
    await attacker.wait(1_000);
    return answer;
  });
};

const OTHERS: readonly Attack[] = [
  { row: 1, name: "splitting", run: flood("wide names") },
  { row: 2, name: "memory", run: flood("short tokens") },
  { row: 3, name: "stalled bodies", run: stalledBodies },
  { row: 3, name: "stalled uploads", run: stalledUploads },
  { row: 4, name: "silent names", run: silentNames },
  { row: 4, name: "silent lists", run: silentLists },
  { row: 4, name: "silent batches", run: silentBatches },
  { row: 5, name: "idle connections", run: idleConnections },
  { row: 5, name: "slow heads", run: slowHeads },
  { row: 5, name: "long targets", run: longTargets },
  { row: 5, name: "pipelining", run: pipelining },
  { row: 6, name: "one-octet chunks", run: octetChunks },
  { row: 7, name: "sign-ins", run: signIns },
  { row: 7, name: "event streams", run: eventStreams },
  { row: 7, name: "unread results", run: viewStreams },
  { row: 7, name: "unread pages", run: unreadPages },
  { row: 7, name: "reports", run: reports },
  { row: 7, name: "slow registries", run: slowRegistries },
  { row: 7, name: "slow webhooks", run: slowWebhooks },
];

/** The bodies of the first two attacks are no others. */
const PARSED = BODY_NAMES.filter((name) => !["wide names", "short tokens"].includes(name));

export const ATTACKS: readonly Attack[] = [
  ...OTHERS,
  ...PARSED.map((name) => ({ row: 6, name, run: flood(name) })),
];

import type { RequestListener } from "node:http";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { after } from "node:test";
import type { Answer, Registration, Until } from "../../src/core/mail/lookup.ts";
import {
  type RegistrationCache,
  memoryRegistrationCache,
} from "../../src/check/rdap/registration.ts";
import { keptLog } from "../process/kept-log.ts";
import { type ManualClock, manualClock } from "../time/manual-clock.ts";
import { type Peer, httpPeer } from "../http/peer.ts";
import { realClock } from "../time/real-clock.ts";
import { createOutbound } from "../../src/outbound/outbound.ts";
import { AddressRanges } from "../../src/outbound/public-address.ts";
import { createBootstrapCopy } from "../../src/check/rdap/bootstrap-copy.ts";
import { createRegistration } from "../../src/check/rdap/registration.ts";
import { ONE_OWNER, createShares } from "../../src/base/shares.ts";
import { temporaryFolder } from "../process/temporary-folder.ts";

export const DAY_MS = 86_400_000;
const closing: (() => Promise<unknown>)[] = [];
after(() => Promise.all(closing.map((close) => close())));

export async function kept(peer: Promise<Peer>): Promise<Peer> {
  const made = await peer;
  closing.push(() => made.close());
  return made;
}

export async function scratch(): Promise<string> {
  const folder = temporaryFolder();
  closing.push(() => rm(folder, { recursive: true }));
  return folder;
}

/** A busy machine must not make anybody time out. */
const PATIENCE_MS = 60_000;

interface World {
  readonly registration: (
    domain: string,
    by?: string,
    until?: Until,
  ) => Promise<Answer<Registration>>;
  readonly clock: ManualClock;
  readonly log: ReturnType<typeof keptLog>;
  readonly path: string;
}

export interface Setup {
  readonly bootstrap?: RequestListener;
  readonly path?: string;
  readonly url?: string;
  readonly cache?: RegistrationCache;
  readonly timeoutMs?: number;
  readonly allow?: readonly string[];
  readonly clock?: ManualClock;
  /** Who asks; one unless given. */
  readonly owners?: "several";
}

const sharesFor = ({ owners }: Setup) =>
  createShares(undefined, owners === "several" ? {} : ONE_OWNER);

/** The whole client as main wires it, over real sockets; deadlines run on real time, dates on the manual clock. */
export async function world(setup: Setup): Promise<World> {
  const outbound = createOutbound({
    addresses: () => ({ kind: "absent", why: "noName" }),
    clock: realClock,
    allowed: new AddressRanges(setup.allow ?? ["127.0.0.0/8"]),
  });
  const clock = setup.clock ?? manualClock();
  const log = keptLog();
  const path = setup.path ?? join(await scratch(), "rdap", "dns.json");
  const url = setup.url ?? (await kept(httpPeer(setup.bootstrap ?? serve({})))).url;
  const ids = { hex32: () => "0".repeat(32) };
  const bootstrap = createBootstrapCopy({ url, path, outbound, clock, ids, log });
  const registration = createRegistration({
    bootstrap,
    outbound,
    cache: setup.cache ?? memoryRegistrationCache(),
    clock,
    log,
    shares: sharesFor(setup),
    timeoutMs: setup.timeoutMs ?? PATIENCE_MS,
  });
  return {
    registration: async (domain, by, until) => registration(domain, by, until),
    clock,
    log,
    path,
  };
}

/** A bootstrap file (RFC 9224 section 3) from suffix to URLs. */
export function file(services: Readonly<Record<string, string | readonly string[]>>): string {
  return JSON.stringify({
    version: "1.0",
    publication: "2026-11-01T00:00:00Z",
    services: Object.entries(services).map(([suffix, urls]) => [[suffix], [urls].flat()]),
  });
}

export const serve =
  (services: Readonly<Record<string, string | readonly string[]>>): RequestListener =>
  (_request, response) =>
    response.end(file(services));

/** A client whose registry for ".example" answers as given. */
export async function registry(listener: RequestListener, more: Omit<Setup, "bootstrap"> = {}) {
  const peer = await kept(httpPeer(listener));
  return { ...(await world({ ...more, bootstrap: serve({ example: `${peer.url}/` }) })), peer };
}

export const registeredOn = (date: string) => ({ eventAction: "registration", eventDate: date });
export const domainObject = (more: object = {}) => ({
  objectClassName: "domain",
  ldhName: "a.example",
  events: [registeredOn("1997-09-15T04:00:00Z")],
  ...more,
});
export const found = (date: string) => ({
  kind: "found",
  records: [{ registeredAtMs: Date.parse(date) }],
});

export function short(answer: Answer<Registration>): string {
  if (answer.kind === "found") {
    return answer.records
      .map(({ registeredAtMs }) => new Date(registeredAtMs).toISOString())
      .join();
  }
  return `${answer.kind} ${answer.why}`;
}
/** Little only where the time itself is the test. */
export const patience = (want: string): number => (want === "unknown timeout" ? 250 : PATIENCE_MS);

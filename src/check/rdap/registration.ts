import { DAY_MS } from "../../core/calendar.ts";
import { isHostName } from "../../core/name/domain.ts";
import {
  type Answer,
  Askers,
  type Lookup,
  type Registration,
  type UnknownReason,
  type Until,
} from "../../core/mail/lookup.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { HttpReply, Outbound, OutboundFailure } from "../../outbound/outbound-types.ts";
import type { CachedRegistration, RegistrationCache } from "../registration-cache.ts";
import type { OwnerKey } from "../../base/owner.ts";
import { NoRoom, type Shares } from "../../base/shares.ts";
import type { Bootstrap } from "./bootstrap-copy.ts";
import { readDomainAnswer, retryAfterMs } from "./domain-answer.ts";

const WAIT_MS = 10_000;

const OPERATOR = "account:operator";

/** Asks a registry. `until`: given when others wait for the answer too. */
type Question = (until?: Until) => Promise<Answer<Registration>>;

interface ServerSlots {
  run(server: string, work: Question, by?: OwnerKey): Promise<Answer<Registration> | undefined>;
  hold(server: string, forMs: number): void;
}

function createServerSlots(
  clock: Pick<Clock, "monotonicMs">,
  shares: Pick<Shares, "registry">,
): ServerSlots {
  const heldUntilMs = new Map<string, number>();
  const isHeld = (server: string): boolean =>
    (heldUntilMs.get(server) ?? -Infinity) > clock.monotonicMs();
  return {
    async run(server, work, by = OPERATOR) {
      const askedMs = clock.monotonicMs();
      if (isHeld(server)) return undefined;
      const inTurn = async () => {
        const isLate = clock.monotonicMs() - askedMs > WAIT_MS;
        return isHeld(server) || isLate ? undefined : await work();
      };
      try {
        return await shares.registry(server).run(by, inTurn);
      } catch (error) {
        if (error instanceof NoRoom) return undefined;
        throw error;
      }
    },
    hold(server, forMs) {
      const untilMs = clock.monotonicMs() + forMs;
      heldUntilMs.set(server, Math.max(heldUntilMs.get(server) ?? -Infinity, untilMs));
    },
  };
}

interface RdapDeps {
  readonly outbound: Pick<Outbound, "http">;
  readonly clock: Pick<Clock, "nowMs">;
  readonly slots: ServerSlots;
  readonly by?: OwnerKey | undefined;
  readonly until: Until;
  readonly timeoutMs: number;
}

const BYTES_MAX = 1_048_576;
const REDIRECTS_MAX = 3;

/** How long a server that failed is not asked, and the bounds for the time that its Retry-After may name. */
const FAILED_MS = 5_000;
const BUSY_MS = 60_000;
const BUSY_MAX_MS = 3_600_000;

const unknown = (why: UnknownReason): Answer<never> => ({ kind: "unknown", why });

async function askRdap(
  base: string,
  domain: string,
  deps: RdapDeps,
): Promise<Answer<Registration>> {
  const server = new URL(base).origin;
  const answer = await deps.slots.run(
    server,
    async (until = deps.until) => {
      if (until.isPast) return unknown("deadline");
      const reply = await deps.outbound.http({
        url: `${base}domain/${domain}`,
        method: "GET",
        headers: { Accept: "application/rdap+json", "User-Agent": "gatepost" },
        timeoutMs: deps.timeoutMs,
        maxBodyBytes: BYTES_MAX,
        maxRedirects: REDIRECTS_MAX,
        until,
      });
      if (reply.ok) return check(reply.value, { server, domain }, deps);
      // Where one name's redirect leads says nothing of the registry, which answered.
      const isOfServer = reply.isRedirected !== true && reply.fault !== "malformed";
      if (isOfServer) deps.slots.hold(server, FAILED_MS);
      return unknown(reasonOf(reply));
    },
    deps.by,
  );
  return answer ?? unknown("refused");
}

/** RFC 7480 section 5: 200 is an answer, 404 is "no such domain", any other status says nothing about the domain. */
function check(
  reply: HttpReply,
  { server, domain }: { readonly server: string; readonly domain: string },
  { slots, clock }: RdapDeps,
): Answer<Registration> {
  const { status, headers, body, cut, isRedirected = false } = reply;
  if (status === 404) return { kind: "absent", why: "noName" };
  if (status === 200) return cut ? unknown("malformed") : readDomainAnswer(body, domain);
  if ((status === 429 || status >= 500) && !isRedirected) {
    const asked = retryAfterMs(headers["retry-after"], clock.nowMs());
    const usual = status === 429 ? BUSY_MS : FAILED_MS;
    slots.hold(server, Math.min(asked ?? usual, BUSY_MAX_MS));
  }
  return unknown(status >= 500 ? "servfail" : "refused");
}

function reasonOf({ fault }: OutboundFailure): UnknownReason {
  if (fault === "timeout") return "timeout";
  if (fault === "malformed") return "malformed";
  return fault === "redirect" || fault === "not_public" || fault === "bad_url"
    ? "refused"
    : "network";
}

interface RegistrationDeps {
  readonly bootstrap: () => Promise<Bootstrap | undefined>;
  readonly outbound: Outbound;
  readonly cache: RegistrationCache;
  readonly clock: Pick<Clock, "nowMs" | "monotonicMs">;
  readonly log: Log;
  readonly shares: Pick<Shares, "registry">;
  readonly timeoutMs: number;
}

/** A date of registration never changes while the domain lives; a name without one may be registered at any time. */
const FOUND_MS = 7 * DAY_MS;
const ABSENT_MS = 3_600_000;

/** By the registry's RDAP server. Questions in flight are asked once; a suffix without any server is `absent`. */
export function createRegistration(deps: RegistrationDeps): Lookup["registration"] {
  const slots = createServerSlots(deps.clock, deps.shares);
  // By domain, and by owner too: what still waits in the turn of one owner must not keep another waiting.
  const [asked, inFlight] = [shared(), shared()];
  return (domain, by, until) => {
    if (!isHostName(domain)) return { kind: "absent", why: "noName" };
    return inFlight(`${by ?? ""} ${domain}`, until, (askers) => {
      const once: ServerSlots = {
        ...slots,
        run: (server, work, owner) =>
          slots.run(
            server,
            () => asked(domain, askers, (all) => unlessKept(domain, () => work(all), deps)),
            owner,
          ),
      };
      return lookUp(domain, deps, { slots: once, by, until: askers });
    });
  };
}

/** Runs a question of the same name once at a time; it ends when the last of its askers stops waiting. */
function shared() {
  const running = new Map<string, { answer: Promise<Answer<Registration>>; askers: Askers }>();
  return (
    name: string,
    until: Until | undefined,
    question: (askers: Askers) => Promise<Answer<Registration>>,
  ): Promise<Answer<Registration>> => {
    const twin = running.get(name);
    if (twin !== undefined) {
      twin.askers.add(until);
      return twin.answer;
    }
    const askers = new Askers();
    askers.add(until);
    const answer = question(askers).finally(() => running.delete(name));
    running.set(name, { answer, askers });
    return answer;
  };
}

/** Another owner's question may have been answered meanwhile. */
async function unlessKept(
  domain: string,
  question: Question,
  deps: RegistrationDeps,
): Promise<Answer<Registration>> {
  const cached = await read(domain, deps);
  return cached === undefined ? await question() : answerOf(cached);
}

interface Turn {
  readonly slots: ServerSlots;
  readonly by: OwnerKey | undefined;
  readonly until: Until;
}

async function lookUp(
  domain: string,
  deps: RegistrationDeps,
  turn: Turn,
): Promise<Answer<Registration>> {
  const cached = await read(domain, deps);
  if (cached !== undefined) return answerOf(cached);
  const answer = await ask(domain, deps, turn);
  if (answer.kind === "unknown") return answer;
  const keptMs = answer.kind === "found" ? FOUND_MS : ABSENT_MS;
  const expiresAtMs = deps.clock.nowMs() + keptMs;
  const registeredAtMs = answer.kind === "found" ? answer.records[0]?.registeredAtMs : undefined;
  await save(domain, { registeredAtMs, expiresAtMs }, deps);
  return { ...answer, expiresAtMs };
}

async function ask(
  domain: string,
  deps: RegistrationDeps,
  turn: Turn,
): Promise<Answer<Registration>> {
  const bootstrap = await deps.bootstrap();
  if (bootstrap === undefined) return unknown("network");
  if (turn.until.isPast) return unknown("deadline");
  const base = bootstrap(domain);
  if (base === undefined) return { kind: "absent", why: "noData" };
  return askRdap(base, domain, { ...deps, ...turn });
}

function answerOf({ registeredAtMs, expiresAtMs }: CachedRegistration): Answer<Registration> {
  return registeredAtMs === undefined
    ? { kind: "absent", why: "noData", expiresAtMs }
    : { kind: "found", records: [{ registeredAtMs }], expiresAtMs };
}

async function read(
  domain: string,
  { cache, clock, log }: RegistrationDeps,
): Promise<CachedRegistration | undefined> {
  try {
    return await cache.read(domain, clock.nowMs());
  } catch (fault) {
    log.error("registrations.read_failed", fault);
    return undefined;
  }
}

async function save(
  domain: string,
  answer: CachedRegistration,
  { cache, log }: RegistrationDeps,
): Promise<void> {
  try {
    await cache.save(domain, answer);
  } catch (fault) {
    log.error("registrations.save_failed", fault);
  }
}

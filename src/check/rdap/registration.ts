import { DAY_MS } from "../../core/calendar.ts";
import { isHostName } from "../../core/name/domain.ts";
import {
  type Answer,
  Askers,
  type Lookup,
  type Registration,
  type Until,
} from "../../core/mail/lookup.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Outbound } from "../../outbound/outbound-types.ts";
import type { CachedRegistration, RegistrationCache } from "../registration-cache.ts";
import type { OwnerKey } from "../../base/owner.ts";
import type { Shares } from "../../base/shares.ts";
import type { BootstrapCopy } from "./bootstrap-copy.ts";
import { askRdap, unknown } from "./rdap-client.ts";
import { createServerSlots, type Question, type ServerSlots } from "./server-slots.ts";

export interface RegistrationDeps {
  readonly bootstrap: BootstrapCopy;
  readonly outbound: Outbound;
  readonly cache: RegistrationCache;
  readonly clock: Pick<Clock, "nowMs" | "monotonicMs">;
  readonly log: Log;
  readonly shares: Pick<Shares, "registry">;
  /** Of one question to one server. */
  readonly timeoutMs: number;
}

/** A date of registration never changes while the domain lives; a name without one may be registered at any time. */
const FOUND_MS = 7 * DAY_MS;
const ABSENT_MS = 3_600_000;

/**
 * When a domain was registered, by its registry's RDAP server. What registries said is reused for 7 days; questions in flight are asked once; a suffix
 * without any server is `absent`.
 */
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
  const bootstrap = await deps.bootstrap.current();
  if (bootstrap === undefined) return unknown("network");
  if (turn.until.isPast) return unknown("deadline");
  const base = bootstrap.serverFor(domain);
  if (base === undefined) return { kind: "absent", why: "noData" };
  return askRdap(base, domain, { ...deps, ...turn });
}

function answerOf({ registeredAtMs, expiresAtMs }: CachedRegistration): Answer<Registration> {
  return registeredAtMs === undefined
    ? { kind: "absent", why: "noData", expiresAtMs }
    : { kind: "found", records: [{ registeredAtMs }], expiresAtMs };
}

/** When the cache fails, the registry is asked. */
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

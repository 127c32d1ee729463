import { A, AAAA, MX, NS } from "../../src/dns/message/records.ts";
import type { Resolver, ResolverOptions } from "../../src/dns/resolver.ts";
import type { ResolverStats } from "../../src/dns/query.ts";
import { AwakeClock } from "../../src/base/clock.ts";
import type { Chance } from "./chance.ts";
import type { Timeline } from "./timeline.ts";
import type { Reply } from "../../src/dns/message/wire.ts";

/** What becomes of an entry, told by its domain's second label; the reference model and the name servers agree on it. */
export type Fate = "valid" | "invalid_dns" | "invalid_format";

export const fateOf = (entry: string, { isEbb }: Pick<NameFaults, "isEbb">): Fate => {
  if (entry.includes("@@") || !entry.includes(".")) return "invalid_format";
  return isGone(entry, isEbb) ? "invalid_dns" : "valid";
};

const isGone = (name: string, isEbb: boolean): boolean =>
  name.endsWith(".gone.test-zone.com") || (isEbb && name.endsWith(".tide.test-zone.com"));

/** One of those that come and go over night. */
export const TIDAL = "d1.tide.test-zone.com";

/** Its mail hosts have names that nobody answers for, so that a check lasts as long as it may; mail reaches it all the same. */
export const MUTE = "d1.mute.test-zone.com";

const MUTE_HOSTS = [1, 2, 3].map((preference) => {
  const host = `mx${String(preference)}.silent.test-zone.com`;
  return { preference, host };
});

/** In each zone. Few, because each name asked for costs a step, and a job of hundreds asks for most of them. */
const DOMAINS = 15;

/** Domains that the name servers know: mail everywhere but under `gone`, and under `tide` on some days; under `slow` the first answer is lost. */
export function entryOf(chance: Chance): string {
  const name = `d${String(chance.below(DOMAINS))}`;
  const zone = chance.pick(["live", "live", "live", "gone", "slow", "tide"]);
  const domain = `${name}.${zone}.test-zone.com`;
  if (chance.isTrue(0.05)) return `broken@@${domain}`;
  return chance.isTrue(0.3) ? domain : `user${String(chance.below(200))}@${domain}`;
}

const TTL = { ttlSeconds: 300 };

function replyOf(name: string, kind: unknown, isEbb: boolean): Reply<unknown> {
  if (isGone(name, isEbb)) return { kind: "absent", why: "noName", ...TTL };
  if (kind === NS) return { kind: "found", records: ["ns.test-zone.com"], ...TTL };
  if (kind === MX && name === MUTE) return { kind: "found", records: MUTE_HOSTS, ...TTL };
  if (kind === MX && !name.startsWith("mx.")) {
    return { kind: "found", records: [{ preference: 10, host: "mx.live.test-zone.com" }], ...TTL };
  }
  if (kind === A) return { kind: "found", records: ["93.184.216.34"], ...TTL };
  return { kind: "absent", why: kind === AAAA ? "noData" : "noData", ...TTL };
}

/** Figures for the page of metrics, which no simulated client reads. */
const STATS = { window: 0, underWay: 0, unsettled: 0, unknown: {} } as unknown as ResolverStats;

/** After this a try counts as lost, as in the real resolver. */
const TRY_MS = 800;
const TRIES_MAX = 4;

export interface NameFaults {
  /** The name servers are silent until then. */
  silentUntilMs: number;
  /** Names under `tide` are not there. */
  isEbb: boolean;
}

/** The model of a resolver and the name servers behind it. */
export function simulatedResolver(
  { clock }: Pick<ResolverOptions, "clock">,
  world: {
    readonly timeline: Timeline;
    readonly chance: Chance;
    readonly faults: NameFaults;
  },
): Resolver {
  const { timeline, chance, faults } = world;
  const awake = new AwakeClock(clock);
  return {
    ask(question, done) {
      const startMs = awake.monotonicMs();
      let tries = 0;
      const again = (): void => {
        tries += 1;
        const delayMs = chance.between(1, 40);
        const dueMs = timeline.nowMs + delayMs;
        awake.after(delayMs, () => {
          const spentMs = awake.monotonicMs() - startMs;
          const isLost = question.name.includes(".slow.") && tries === 1;
          // An answer that comes to a process without a turn may find its socket full.
          const isDropped = timeline.nowMs - dueMs > TRY_MS && chance.isTrue(0.7);
          const isMute = question.name.endsWith(".silent.test-zone.com");
          const isSilent = isMute || timeline.nowMs < faults.silentUntilMs;
          // Said when it arrives: a question of before a night has no answer of that day.
          const reply = replyOf(question.name, question.kind, faults.isEbb);
          if (!isLost && !isDropped && !isSilent)
            done(reply as Parameters<typeof done>[0], spentMs);
          else if (tries < TRIES_MAX) awake.after(TRY_MS, again);
          else done({ kind: "unknown", why: "timeout" }, spentMs);
        });
      };
      again();
    },
    room: () => undefined,
    stats: () => STATS,
    close: () => undefined,
  };
}

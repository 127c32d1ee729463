import { isoTime } from "../core/calendar.ts";
import { type Clock, inTime } from "./clock.ts";
import { type End, every } from "./every.ts";
import type { Log } from "./log.ts";

/** In the order in which they are told: what stops the service comes first. */
export const PARTS = [
  "database",
  "disk",
  "dns",
  "lists",
  "workers",
  "duties",
  "servers",
  "clock",
  "proxy",
  "feeds",
  "webhooks",
  "failed_open",
  "refusals",
] as const;

export type HealthPart = (typeof PARTS)[number];

/** One cause is one line: a part is not told of while one of these stops the service. */
const CAUSES: Partial<Record<HealthPart, readonly HealthPart[]>> = {
  lists: ["database", "disk", "workers"],
  workers: ["database"],
  duties: ["database"],
  servers: ["database", "workers"],
  feeds: ["dns"],
  webhooks: ["dns", "database"],
};

export interface Trouble {
  readonly says: string;
  readonly toDo: string;
  /** True where only a part that the service cannot do without is in doubt: it works still. */
  readonly isWarning?: boolean;
}

export interface BrokenPart {
  readonly part: HealthPart;
  readonly says: string;
  readonly toDo: string;
  readonly sinceMs: number;
  /** The service cannot do its work: `/readyz` names the part. */
  readonly stops: boolean;
}

export type ShownPart = Pick<BrokenPart, "part" | "says" | "stops"> & {
  readonly to_do: string;
  readonly since: string;
};

export const shownPart = ({ toDo, sinceMs, ...part }: BrokenPart): ShownPart => ({
  ...part,
  to_do: toDo,
  since: isoTime(sinceMs),
});

export interface Watched {
  readonly look: () => Promise<Trouble | undefined>;
  /** Of a part that the service needs: what a look that fails or is late means. Of others it means nothing new. */
  readonly silence?: Trouble;
}

interface HealthDeps {
  readonly clock: Clock;
  readonly log: Pick<Log, "info" | "warn">;
  readonly parts: ReadonlyMap<HealthPart, Watched>;
}

/** Asked at most once in `ms`: anybody may ask for readiness, and some looks write. */
export function askedRarely<T>(
  ask: () => Promise<T>,
  ms: number,
  clock: Pick<Clock, "monotonicMs">,
): () => Promise<T> {
  let answer: Promise<T> | undefined;
  let askedMs = -Infinity;
  return () => {
    const nowMs = clock.monotonicMs();
    if (answer === undefined || nowMs - askedMs >= ms) {
      askedMs = nowMs;
      answer = ask();
    }
    return answer;
  };
}

const LOOK_MS = 2_000;
const LOOK_EVERY_MS = 5_000;
const SILENT = "silent" as const;

/** What of this process is broken, and since when: for `/readyz`, metrics, the log and the dashboard. */
export class Health {
  readonly #deps: HealthDeps;
  readonly #known = new Map<HealthPart, BrokenPart>();
  #looking: Promise<readonly BrokenPart[]> | undefined;

  constructor(deps: HealthDeps) {
    this.#deps = deps;
  }

  async state(): Promise<{
    readonly parts: readonly HealthPart[];
    readonly broken: readonly BrokenPart[];
  }> {
    return { parts: [...this.#deps.parts.keys()], broken: await this.now() };
  }

  start(): End {
    const { clock } = this.#deps;
    const failed = (): void => undefined; // a look that fails is an answer
    return every({ ms: LOOK_EVERY_MS, clock, failed }, async () => void (await this.now()));
  }

  /** Looks at every part; whoever asks meanwhile gets the same answer. Never rejects. */
  now(): Promise<readonly BrokenPart[]> {
    return (this.#looking ??= this.#look().finally(() => (this.#looking = undefined)));
  }

  async #look(): Promise<readonly BrokenPart[]> {
    const { clock, parts } = this.#deps;
    const late = { timeoutMs: LOOK_MS, late: SILENT, clock } as const;
    const found = new Map<HealthPart, Trouble | typeof SILENT | undefined>();
    const looks = [...parts].map(async ([part, { look, silence = SILENT }]) => {
      const trouble = await inTime(
        look().catch(() => SILENT),
        late,
      );
      found.set(part, typeof trouble === "string" ? silence : trouble);
    });
    await Promise.all(looks);
    for (const [part, trouble] of found) {
      if (trouble === SILENT || (trouble !== undefined && hasCause(part, found))) continue;
      this.#note(part, trouble, parts.get(part)?.silence !== undefined);
    }
    return PARTS.flatMap((part) => this.#known.get(part) ?? []);
  }

  #note(part: HealthPart, trouble: Trouble | undefined, isNeeded: boolean): void {
    const { clock, log } = this.#deps;
    const known = this.#known.get(part);
    const nowMs = clock.nowMs();
    if (trouble === undefined) {
      if (!this.#known.delete(part) || known === undefined) return;
      log.info("health.mended", { part, seconds: Math.round((nowMs - known.sinceMs) / 1_000) });
      return;
    }
    const { says, toDo, isWarning = false } = trouble;
    const sinceMs = known?.sinceMs ?? nowMs;
    this.#known.set(part, { part, says, toDo, sinceMs, stops: isNeeded && !isWarning });
    if (known === undefined) log.warn("health.broken", { part, says, to_do: toDo });
  }
}

function hasCause(
  part: HealthPart,
  found: ReadonlyMap<HealthPart, Trouble | typeof SILENT | undefined>,
): boolean {
  return (CAUSES[part] ?? []).some((cause) => {
    const trouble = found.get(cause);
    return typeof trouble === "object" && trouble.isWarning !== true;
  });
}

const RECENT_MS = 300_000;

export function recently(clock: Pick<Clock, "monotonicMs">): (total: number) => number {
  const samples: { readonly atMs: number; readonly total: number }[] = [];
  return (total) => {
    const atMs = clock.monotonicMs();
    while (samples.length > 1 && atMs - (samples[1]?.atMs ?? atMs) >= RECENT_MS) samples.shift();
    if (samples.length === 0) samples.push({ atMs, total: 0 });
    if (atMs - (samples.at(-1)?.atMs ?? 0) >= 1_000) samples.push({ atMs, total });
    return total - (samples[0]?.total ?? 0);
  };
}

import { type Charged, chargedOn, mostSince, type Owner } from "./ledger.ts";
import type { Reply, World } from "./world.ts";

const DAY_MS = 86_400_000;

/** Longest answer of a single check, its way over the network included; a freeze comes on top. */
const SINGLE_MS = 6_000;

export interface Asked {
  readonly body?: unknown;
  readonly key?: string | undefined;
}

/** Units that a request may be charged. */
export interface Asking {
  readonly charged: Charged;
  readonly units: number;
}

/** What of a fault makes which answers no surprise. */
export interface Weather {
  /** Answers of 500 and 503 are no surprise, and faults in the log neither. */
  readonly storeFails: boolean;
  readonly namesFail: boolean;
  readonly hasKills: boolean;
  readonly hasRestarts: boolean;
  readonly isFrozen: boolean;
  /** The longest that a process or the store stands still in this bout, in milliseconds. */
  readonly heldUpMs: number;
  /** How far clocks of processes may be behind and ahead in this bout. */
  readonly skewMs: { readonly least: number; readonly most: number };
}

export const FINE: Weather = {
  storeFails: false,
  namesFail: false,
  hasKills: false,
  hasRestarts: false,
  isFrozen: false,
  heldUpMs: 0,
  skewMs: { least: 0, most: 0 },
};

/** Where clients meet the service: every answer is held against what holds of all of them. */
export class Front {
  readonly world: World;
  readonly owners: Owner[] = [];
  readonly violations: string[] = [];
  weather = FINE;
  /** By UTC day: units of single checks that kills may have taken. */
  readonly #mayBeLost = new Map<number, number>();
  /** UTC days on which counters were rebuilt without what one process could not write yet (decision 0004). */
  readonly #mayBeOver = new Set<number>();
  requests = 0;
  #day = 0;
  #openedMs = 0;
  /** When calls were answered that count units, of the bout that runs. */
  #countedMs: number[] = [];

  constructor(world: World) {
    this.world = world;
  }

  wrong(what: string): void {
    this.world.note(`VIOLATION ${what}`);
    this.violations.push(what);
  }

  /** Changes spread and answers come in time. */
  get isCalm(): boolean {
    const { storeFails, heldUpMs } = this.weather;
    return !storeFails && heldUpMs === 0;
  }

  /** How long somebody waits where a process or the store may stand still. */
  patience(ms: number): number {
    return ms + this.weather.heldUpMs;
  }

  /** Counts are written within 250 ms, and answers are on their way for 60: what was answered then a kill may take. */
  loseToKills(): void {
    const sinceMs = 310 + this.weather.heldUpMs;
    for (const atMs of this.world.killedMs) {
      this.mayLose(this.#countedMs.filter((ms) => ms >= atMs - sinceMs && ms <= atMs + 60).length);
    }
    this.world.killedMs = [];
    this.#countedMs = [];
  }

  mayLose(units: number): void {
    // A bout may go past midnight.
    for (const day of [this.today(), this.today() + 1]) {
      this.#mayBeLost.set(day, (this.#mayBeLost.get(day) ?? 0) + units);
    }
  }

  /** Units of today's single checks that kills may have taken. */
  mayBeLost(): number {
    return this.#mayBeLost.get(this.today()) ?? 0;
  }

  mayGrantMore(): void {
    this.#mayBeOver.add(this.today()).add(this.today() + 1);
  }

  /** Units that an owner may get today beyond its quota. */
  mayBeOver(): number {
    return this.#mayBeOver.has(this.today()) ? 10 : 0;
  }

  today(): number {
    const { beganMs, nowMs } = this.world.timeline;
    return Math.floor((beganMs + nowMs) / DAY_MS);
  }

  /** People come. */
  open(): void {
    this.#day = this.today();
    this.#openedMs = this.world.timeline.nowMs;
  }

  /** The UTC days by the clocks of processes since people came: of several, each unit may be charged to any. */
  daysByClocks(): readonly number[] {
    const { beganMs, nowMs } = this.world.timeline;
    const { least, most } = this.weather.skewMs;
    const first = Math.floor((beganMs + this.#openedMs + least) / DAY_MS);
    const last = Math.floor((beganMs + nowMs + most) / DAY_MS);
    return Array.from({ length: last - first + 1 }, (_, at) => first + at);
  }

  /** What was asked for before midnight may be charged after it: a process stood still meanwhile. */
  passMidnight(): void {
    const before = this.#day;
    this.#day = this.today();
    if (this.#day === before) return;
    for (const owner of this.owners) {
      const { certain, possible } = chargedOn(owner, before);
      chargedOn(owner, this.#day).possible += certain + possible;
    }
  }

  async ask(
    owner: Pick<Owner, "key" | "headers" | "address">,
    request: { readonly method: "GET" | "POST" | "DELETE"; readonly url: string },
    { body, key }: Asked = {},
    limitMs = this.patience(SINGLE_MS),
  ): Promise<Reply> {
    const { timeline } = this.world;
    this.requests += 1;
    const startMs = timeline.nowMs;
    const sentKey = owner.headers["authorization"];
    const reply = await this.world.ask({
      ...request,
      from: owner.address,
      headers: {
        ...owner.headers,
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(key !== undefined && { "idempotency-key": key }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    this.passMidnight();
    const tookMs = timeline.nowMs - startMs;
    this.world.note(`${owner.key} ${request.method} ${request.url} ${String(reply.status)}`);
    if (reply.status === 200 && request.method === "POST") this.#countedMs.push(timeline.nowMs);
    if (tookMs > limitMs) {
      this.wrong(`an answer took ${String(Math.round(tookMs))} ms: ${request.url}`);
    }
    const isFault = reply.status === 500 || reply.status === 503;
    if (isFault && !this.weather.storeFails) this.wrong(`${String(reply.status)}: ${request.url}`);
    const given = { ...reply, sentMs: startMs };
    return unlessOldKey(given, sentKey, owner.headers["authorization"]);
  }

  /** Answers are on their way for up to 60 ms. */
  mayBeBusy(owner: Owner): void {
    owner.busyUntilMs = this.world.timeline.nowMs + 100;
  }

  /** Whether enough of them were there before the request, and still are. */
  #hasCredits(owner: Owner, units: number): boolean {
    const { timeline, store } = this.world;
    if (timeline.nowMs - owner.grantedAtMs < 2 * SINGLE_MS + this.weather.heldUpMs) return false;
    const id = owner.key.slice("account:".length);
    const [row] = store.rows(`select credit_balance as balance from accounts where id = '${id}'`);
    return Number(row?.["balance"] ?? 0) >= units;
  }

  /** These units were not charged. */
  free(charged: Charged, units: number): void {
    charged.possible -= units;
    charged.freed.push({ atMs: this.world.timeline.nowMs, units });
  }

  /** These are not charged, and a counter may hold them for a while: it counts too much rather than too little. */
  haunt({ freed }: Charged, units: number): void {
    freed.push({ atMs: Infinity, units });
  }

  /** A refusal must have its reason in what the owner's people did; its own units are possible ones until now. */
  refused(owner: Owner, { charged, units }: Asking, reply: Reply): void {
    const { body, retryAfter, sentMs = 0 } = reply;
    const most = mostSince(charged, sentMs);
    this.free(charged, units);
    if (/quota/.test(body)) {
      if (most <= owner.dailyLimit && this.daysByClocks().length === 1) {
        this.wrong(`${owner.key} was refused with at most ${String(most - units)} units used`);
      }
      if (this.#hasCredits(owner, units)) this.wrong(`${owner.key} was refused beside its credits`);
    } else if (/in progress/.test(body)) {
      const isFree = owner.open.size === 0 && owner.unknownJobs === 0;
      if (isFree && this.world.timeline.nowMs > owner.busyUntilMs) {
        this.wrong("a slot is taken by no job");
      }
    } else if (retryAfter === undefined) this.wrong(`429 without Retry-After: ${body}`);
  }
}

/** Of a key that was revoked while the request was under way nothing is known. */
const unlessOldKey = (reply: Reply, sent: string | undefined, now: string | undefined): Reply =>
  reply.status === 401 && sent !== now ? { ...reply, status: 0 } : reply;

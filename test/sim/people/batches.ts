import type { Chance } from "../chance.ts";
import type { Front } from "../front.ts";
import { type Charged, chargedOn, type Owner } from "../ledger.ts";
import { Rivals } from "./rivals.ts";
import {
  BULK_MS,
  entriesOf,
  isOpen,
  largeCount,
  type Stats,
  type Wanted,
  wanted,
} from "./wanted.ts";
import type { Reply } from "../world.ts";

/** A job of a few hundred entries is over by then, kills and freezes included. */
const JOB_MS = 180_000;
const SESSION_MS = 900_000;
const REPEATS_MAX = 20;
/** The longest that a request may take, and some seconds. */
const LOCK_SECONDS = 90;

const OTHER = ["one-more.live.test-zone.com"];

export interface Finished {
  readonly session: string;
  readonly owner: Owner;
  readonly want: Wanted;
  readonly endedMs: number;
  /** Every name had its answer. */
  readonly isExact: boolean;
}

interface View {
  readonly status: string;
  readonly processed_count?: number;
}

interface Job {
  readonly session: string;
  readonly owner: Owner;
  readonly want: Wanted;
  readonly charged: Charged;
}

/** Its units were possible ones until it is known to be done. */
function charge({ charged, want }: Job): void {
  charged.possible -= want.unique;
  charged.certain += want.unique;
}

/** Clients with batches. */
export class Batches {
  readonly finished: Finished[] = [];
  readonly #front: Front;
  readonly #chance: Chance;
  readonly #rivals: Rivals;

  constructor(front: Front, chance: Chance) {
    this.#front = front;
    this.#chance = chance;
    this.#rivals = new Rivals(front, chance);
  }

  async submit(owner: Owner, count = this.#countFor(owner)): Promise<void> {
    const entries = entriesOf(this.#chance, count);
    const want = wanted(entries, this.#front.world.names);
    const key = this.#chance.isTrue(0.6) ? `k${String(this.#chance.below(1e9))}` : undefined;
    const charged = chargedOn(owner, this.#front.today());
    const order = { method: "POST", url: "/api/email" } as const;
    const body = { bulk: true, email: entries };
    const send = (sent: unknown = body): Promise<Reply> =>
      this.#front.ask(owner, order, { body: sent, key }, this.#front.patience(BULK_MS));
    // Before the answer is there the job and its charge may be.
    charged.possible += want.unique;
    owner.unknownJobs += 1;
    const { reply, tries } = await this.#untilAnswered(send, key);
    // Of a process that died, or of a commit without an answer.
    if (tries > 1) this.#front.haunt(charged, (tries - 1) * want.unique);
    if (isOpen(reply)) {
      const isStuck = reply.status === 409 && !this.#front.weather.storeFails;
      return isStuck ? this.#front.wrong("a repeated request is refused for 20 s") : undefined;
    }
    owner.unknownJobs -= 1;
    this.#front.mayBeBusy(owner);
    if (reply.status !== 200) return this.#refused(reply, { owner, want, charged });
    if (key !== undefined) await this.#useKeyAgain({ owner, key, body, count }, reply, send);
    await this.#answered(reply, { owner, want, charged }, key === undefined ? key : send);
  }

  #countFor({ dailyLimit }: Owner): number {
    const isLarge = dailyLimit === Infinity && this.#chance.isTrue(0.5);
    return isLarge ? largeCount(this.#chance) : 1 + this.#chance.below(12);
  }

  #refused(reply: Reply, { owner, want, charged }: Omit<Job, "session">): void {
    if (reply.status === 429) this.#front.refused(owner, { charged, units: want.unique }, reply);
    else this.#front.wrong(`a batch got ${String(reply.status)}`);
  }

  /** One key is for one request of one owner. */
  async #useKeyAgain(
    asked: { readonly owner: Owner; readonly key: string; readonly body: object; count: number },
    reply: Reply,
    send: (sent: unknown) => Promise<Reply>,
  ): Promise<void> {
    const { owner, key, body, count } = asked;
    if (this.#chance.isTrue(0.1)) {
      const { status } = await send({ ...body, email: OTHER });
      if (status === 200) this.#front.wrong("a key of another request is answered");
    }
    if (count <= 12 && this.#chance.isTrue(0.3)) {
      await this.#rivals.sendAsOther(owner, { body, key }, reply);
    }
  }

  /** Only with a key is it safe to ask again: the same request is charged once. */
  async #untilAnswered(send: () => Promise<Reply>, key: string | undefined) {
    let reply = await send();
    let tries = 1;
    for (; key !== undefined && isOpen(reply) && tries <= REPEATS_MAX; tries += 1) {
      if (reply.status === 409 && reply.retryAfter === undefined) {
        this.#front.wrong("409 without Retry-After");
      }
      if ((reply.retryAfter ?? 0) > LOCK_SECONDS) this.#front.wrong("a key is locked for too long");
      await this.#front.world.timeline.sleep(1_000 * (reply.retryAfter ?? 1));
      reply = await send();
    }
    return { reply, tries };
  }

  async #answered(
    { body }: Reply,
    of: Omit<Job, "session">,
    send: (() => Promise<Reply>) | undefined,
  ): Promise<void> {
    const answer = JSON.parse(body) as Stats & { session: string; status?: string };
    const job = { ...of, session: answer.session };
    if (answer.status !== "pending") charge(job);
    else {
      job.owner.open.add(job.session);
      this.#rivals.countRunning(job.owner);
      if (this.#chance.isTrue(0.2)) await this.#rivals.submitBeside(job.owner);
    }
    if (this.#chance.isTrue(0.3)) await this.#rivals.peep(job);
    if (send !== undefined && this.#chance.isTrue(0.3)) await this.#repeat(send, answer.session);
    if (answer.status === "pending") await this.#follow(job);
    else {
      this.#compareStats(answer, job.want, "at once");
      this.#ended(job);
    }
  }

  async #repeat(send: () => Promise<Reply>, session: string): Promise<void> {
    const again = await send();
    if (again.status === 409 && !this.#front.weather.storeFails) {
      this.#front.wrong("an answer is not kept");
    }
    if (again.status !== 200) return;
    const { session: other } = JSON.parse(again.body) as { session: string };
    if (other !== session) this.#front.wrong("a repeated request made another session");
  }

  #ended({ session, owner, want }: Job): void {
    const { weather, world } = this.#front;
    const known = { endedMs: world.timeline.nowMs, isExact: !weather.namesFail };
    this.finished.push({ session, owner, want, ...known });
  }

  /** Looks at a job until it is over, or gives it up. */
  async #follow(job: Job): Promise<void> {
    const { timeline } = this.#front.world;
    const cancelAfterMs = this.#chance.isTrue(0.2) ? 400 : Infinity;
    const startMs = timeline.nowMs;
    if (this.#chance.isTrue(0.25)) return await this.#cancel(job);
    const seen = { processed: 0 };
    for (;;) {
      await timeline.sleep(this.#chance.between(200, 1_500));
      const tookMs = timeline.nowMs - startMs;
      if (tookMs > cancelAfterMs) return await this.#cancel(job);
      if (await this.#isOver(job, seen)) return;
      if (tookMs <= JOB_MS + this.#front.weather.heldUpMs) continue;
      const state = this.#front.world.store.state();
      return this.#front.wrong(`a job is not over after ${String(JOB_MS)} ms; store: ${state}`);
    }
  }

  /** Its units stay possible ones: some may be free again. */
  async #cancel({ session, owner }: Job): Promise<void> {
    const gone = await this.#front.ask(owner, { method: "DELETE", url: `/api/view/${session}` });
    if (isOpen(gone)) owner.unknownJobs += 1;
    owner.open.delete(session);
    this.#front.mayBeBusy(owner);
    const url = `/api/view/${session}`;
    const after = await this.#front.ask(owner, { method: "GET", url });
    if (gone.status === 200 && after.status === 200)
      this.#front.wrong("a deleted session is there");
  }

  async #isOver(job: Job, seen: { processed: number }): Promise<boolean> {
    const { session, owner, want } = job;
    const url = `/api/view/${session}`;
    const { status, body } = await this.#front.ask(owner, { method: "GET", url });
    if (status === 404) this.#front.wrong("an accepted session is gone");
    if (status !== 200) return status === 404;
    const view = body.startsWith("{") ? (JSON.parse(body) as View) : undefined;
    if (view !== undefined && view.status !== "completed") {
      this.#progress(view, seen);
      return view.status === "failed";
    }
    owner.open.delete(session);
    this.#front.mayBeBusy(owner);
    charge(job);
    if (view === undefined) this.#compareList(body, want);
    this.#ended(job);
    return true;
  }

  #progress({ status, processed_count: processed }: View, seen: { processed: number }): void {
    if (status === "failed") this.#front.wrong("a job failed");
    if (processed === undefined) return;
    if (processed < seen.processed) this.#front.wrong("progress fell");
    seen.processed = processed;
  }

  #compareStats(stats: Stats, want: Wanted, where: string): void {
    if (this.#front.weather.namesFail) return;
    const { fates, unique } = want;
    const given = [stats.unique, stats.valid, stats.invalid_dns, stats.invalid_format];
    const right = [unique, fates.valid, fates.invalid_dns, fates.invalid_format];
    if (given.join() === right.join()) return;
    this.#front.wrong(`stats ${where}: ${given.join()}, not ${right.join()}`);
  }

  #compareList(body: string, { valid }: Wanted): void {
    if (this.#front.weather.namesFail) return;
    const given = body.trim().split("\n");
    if (given.join() === valid.join()) return;
    this.#front.wrong(`a list has ${String(given.length)} entries, not ${String(valid.length)}`);
  }

  /** What was answered once is there until its session ends. */
  async look(): Promise<void> {
    if (this.finished.length > 0) await this.#lookAt(this.#chance.pick(this.finished.slice(-20)));
  }

  async lookAtLast(): Promise<void> {
    for (const one of this.finished.slice(-3)) await this.#lookAt(one);
  }

  async #lookAt({ session, owner, want, endedMs, isExact }: Finished): Promise<void> {
    const url = `/api/view/${session}/json`;
    const { status, body } = await this.#front.ask(owner, { method: "GET", url });
    const ageMs = this.#front.world.timeline.nowMs - endedMs;
    if (status === 404 && ageMs < SESSION_MS - JOB_MS - 60_000) {
      this.#front.wrong("results are gone before their time");
    }
    if (status !== 200) return;
    if (ageMs > SESSION_MS + 60_000) this.#front.wrong("results outlive their session");
    const { stats } = JSON.parse(body) as { stats?: Stats };
    if (stats !== undefined && isExact) this.#compareStats(stats, want, "in json");
  }

  /** Nothing of one owner reaches another. */
  async peep(): Promise<void> {
    if (this.finished.length > 0)
      await this.#rivals.peep(this.#chance.pick(this.finished.slice(-5)));
  }
}

import { setTimeout as pause } from "node:timers/promises";
import { entriesOf, isValid } from "./entries.ts";
import { type Account, type Front, isOpen } from "./front.ts";

interface Order {
  readonly key: string;
  readonly entries: readonly string[];
  /** Undefined until an answer came. */
  session?: string;
}

const JOB = 101;

/** A client of one account that sends one batch after the other, and repeats each until it is answered. */
export class BulkClient {
  readonly account: Account;
  /** Sessions of batches that ended. */
  readonly ended: string[] = [];
  readonly #front: Front;
  readonly #large: number;
  /** Locked by a process that died; asked again later. */
  readonly #locked: Order[] = [];
  #order: Order | undefined;
  /** The newest answer about it, for a person who looks for why it does not end. */
  last = "";
  #sent = 0;

  /** `large`: the share of batches that are queued. */
  constructor(front: Front, account: Account, large: number) {
    this.#front = front;
    this.account = account;
    this.#large = large;
  }

  get isIdle(): boolean {
    return this.#order === undefined;
  }

  /** One step. */
  async act(): Promise<void> {
    this.#order ??= this.#front.chance.isTrue(0.1) ? this.#locked.shift() : undefined;
    this.#order ??= this.#newOrder();
    const order = this.#order;
    if (order.session === undefined) await this.#send(order);
    else await this.#look(order, order.session);
  }

  /** Goes on with what it has begun, and begins nothing. */
  async finish(): Promise<void> {
    if (this.#order !== undefined) await this.act();
  }

  #newOrder(): Order {
    const { chance } = this.#front;
    this.#sent += 1;
    const count = chance.isTrue(this.#large) ? JOB + chance.below(150) : 1 + chance.below(8);
    const key = `${this.account.name} ${String(this.#sent)}`;
    this.account.possible += count;
    return { key, entries: entriesOf(chance, count) };
  }

  async #send(order: Order): Promise<void> {
    const { key, entries } = order;
    const reply = await this.#front.ask({
      method: "POST",
      path: "/api/email",
      headers: { ...this.account.headers, "idempotency-key": key },
      body: { bulk: true, email: entries },
    });
    this.last = `${String(reply.status)} ${reply.body.slice(0, 200)}`;
    if (isOpen(reply)) return;
    if (reply.status === 409) {
      // Its server died; of several the lock ends half a minute later.
      this.#locked.push(order);
      this.#order = undefined;
      return;
    }
    // A locked batch may have been accepted before its server died, and an account runs one at a time.
    if (reply.status === 429) return await pause(20);
    if (reply.status !== 200) {
      this.#front.wrong.push(`a batch got ${reply.body}`);
      return;
    }
    const { session, status } = JSON.parse(reply.body) as { session: string; status?: string };
    order.session = session;
    this.account.certain += entries.length;
    this.account.batches += entries.length;
    this.account.possible -= entries.length;
    if (status !== "pending") await this.#look(order, session);
  }

  async #look({ entries }: Order, session: string): Promise<void> {
    const { headers } = this.account;
    const path = `/api/view/${session}`;
    const reply = await this.#front.ask({ method: "GET", path, headers });
    this.last = `${String(reply.status)} ${reply.body.slice(0, 200)}`;
    if (isOpen(reply)) return;
    if (reply.status !== 200) {
      this.#front.wrong.push(`an accepted batch is gone: ${String(reply.status)}`);
    } else if (reply.body.startsWith("{")) {
      const { status } = JSON.parse(reply.body) as { status: string };
      if (status === "failed") this.#front.wrong.push("a batch failed");
      // A finished batch without a valid entry has a summary for a list.
      else if (status === "completed") this.#compare(entries, []);
      else return await pause(20);
    } else {
      this.#compare(entries, reply.body.split("\n").filter(Boolean));
    }
    this.#order = undefined;
    this.ended.push(session);
  }

  #compare(entries: readonly string[], given: readonly string[]): void {
    const valid = entries.filter(isValid).map((entry) => entry.toLowerCase());
    const lacking = valid.filter((entry) => !given.includes(entry));
    if (given.length !== valid.length || lacking.length > 0) {
      this.#front.wrong.push(`a list has ${String(given.length)} of ${String(valid.length)}`);
    }
  }
}

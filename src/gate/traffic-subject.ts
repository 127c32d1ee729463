import type { TrafficKind, TrafficTableRow } from "../store/schema.ts";
import { COUNTED_MS } from "./traffic-store.ts";

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
const HOURS = COUNTED_MS.hour / HOUR_MS;

/** Messages of 60 minutes to mailboxes that the account never sent to, and the median hour of 14 days. */
export interface NewMailboxes {
  readonly messages: number;
  readonly usual: number;
}

/** Less is no wave, however quiet the account is otherwise. */
const WAVE_ABOVE = 30;
const WAVE_TIMES_USUAL = 6;

export const isWave = ({ messages, usual }: NewMailboxes): boolean =>
  messages > WAVE_ABOVE && messages > WAVE_TIMES_USUAL * usual;

const NONE: ReadonlyMap<string, number> = new Map();

/** What is counted of one mailbox, domain, mail host, or of all messages of an account. */
export class TrafficSubject {
  readonly #items = new Map<TrafficKind, Map<string, number>>();
  readonly #counts = new Map<string, number>();
  #messages = 0;
  #usual = { atHour: -1, median: 0 };
  firstMs: number | undefined;
  readonly readAtMs: number;

  constructor(rows: readonly TrafficTableRow[], readAtMs: number) {
    this.readAtMs = readAtMs;
    for (const row of rows.toSorted((a, b) => a.last_ms - b.last_ms)) {
      this.see(row.kind, row.item, row.last_ms, Number(row.count));
      if (row.kind === "domain") this.firstMs = Math.min(row.first_ms, this.firstMs ?? Infinity);
    }
  }

  current(kind: TrafficKind, nowMs: number): ReadonlyMap<string, number> {
    const items = this.#items.get(kind);
    if (items === undefined) return NONE;
    for (const [item, lastMs] of items) {
      if (lastMs > nowMs - COUNTED_MS[kind]) break;
      items.delete(item);
      if (kind === "minute") this.#messages -= this.count(kind, item);
      if (kind === "minute" || kind === "hour") this.#counts.delete(`${kind} ${item}`);
    }
    return items;
  }

  count(kind: TrafficKind, item: string): number {
    return this.#counts.get(`${kind} ${item}`) ?? 0;
  }

  newMailboxes(nowMs: number): NewMailboxes {
    this.current("minute", nowMs);
    const atHour = Math.floor(nowMs / HOUR_MS);
    if (this.#usual.atHour !== atHour)
      this.#usual = { atHour, median: this.#median(nowMs, atHour) };
    return { messages: this.#messages, usual: this.#usual.median };
  }

  /** Of the whole hours before this one; several processes count in each. */
  #median(nowMs: number, atHour: number): number {
    const sums = new Map<number, number>();
    for (const item of this.current("hour", nowMs).keys()) {
      const hour = Number.parseInt(item, 10);
      if (hour < atHour) sums.set(hour, (sums.get(hour) ?? 0) + this.count("hour", item));
    }
    const all = Array.from({ length: HOURS }, (_, back) => sums.get(atHour - 1 - back) ?? 0);
    return all.toSorted((a, b) => a - b)[HOURS / 2] ?? 0;
  }

  see(kind: TrafficKind, item: string, lastMs: number, count = 0): void {
    const more = count === 0 ? 0 : count - this.count(kind, item);
    if (more > 0) this.#counts.set(`${kind} ${item}`, count);
    if (more > 0 && kind === "minute") this.#messages += more;
    const items = this.#items.get(kind) ?? new Map<string, number>();
    items.delete(item);
    this.#items.set(kind, items.set(item, lastMs));
  }

  get rows(): number {
    let rows = 1;
    for (const items of this.#items.values()) rows += items.size;
    return rows;
  }
}

interface Entry {
  readonly value: string | Map<string, string>;
  untilMs: number;
}

/** The keys of a Redis, with the commands that scripts and connections use; what has expired is not there. */
export class Keyspace {
  readonly #entries = new Map<string, Entry>();
  readonly #timeMs: () => number;

  /** The server's clock. */
  constructor(timeMs: () => number) {
    this.#timeMs = timeMs;
  }

  get nowMs(): number {
    return Math.floor(this.#timeMs());
  }

  clear(): void {
    this.#entries.clear();
  }

  set(key: string, value: string, livesMs = Infinity): void {
    this.#entries.set(key, { value, untilMs: this.nowMs + livesMs });
  }

  get(key: string): string | undefined {
    const value = this.#find(key)?.value;
    return typeof value === "string" ? value : undefined;
  }

  hset(key: string, ...pairs: readonly (string | number)[]): void {
    const hash = this.#hash(key);
    for (let at = 0; at < pairs.length; at += 2) hash.set(String(pairs[at]), String(pairs[at + 1]));
  }

  hget(key: string, field: string): string | undefined {
    return this.hgetall(key).get(field);
  }

  hdel(key: string, field: string): void {
    const hash = this.#find(key)?.value;
    if (!(hash instanceof Map)) return;
    hash.delete(field);
    if (hash.size === 0) this.#entries.delete(key);
  }

  hgetall(key: string): ReadonlyMap<string, string> {
    const value = this.#find(key)?.value;
    return value instanceof Map ? value : EMPTY;
  }

  hincrby(key: string, field: string, by: number): void {
    const hash = this.#hash(key);
    hash.set(field, String(Number(hash.get(field) ?? "0") + by));
  }

  pexpire(key: string, livesMs: number): void {
    const entry = this.#find(key);
    if (entry !== undefined) entry.untilMs = this.nowMs + livesMs;
  }

  unlink(...keys: readonly string[]): number {
    return keys.filter((key) => this.#entries.delete(key)).length;
  }

  keys(beginning: string): readonly string[] {
    return [...this.#entries.keys()].filter(
      (key) => key.startsWith(beginning) && this.#find(key) !== undefined,
    );
  }

  #find(key: string): Entry | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.untilMs > this.nowMs) return entry;
    this.#entries.delete(key);
    return undefined;
  }

  #hash(key: string): Map<string, string> {
    const known = this.#find(key)?.value;
    if (known instanceof Map) return known;
    const made = new Map<string, string>();
    this.#entries.set(key, { value: made, untilMs: Infinity });
    return made;
  }
}

const EMPTY: ReadonlyMap<string, string> = new Map();

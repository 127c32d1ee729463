import type { Awaitable } from "../../core/mail/lookup.ts";
import type { Clock } from "../../base/clock.ts";
import type { KeyHolder, Keys } from "./keys.ts";
import type { Notices } from "../../store/notices.ts";
import { hashApiKey, isApiKey } from "./api-key.ts";

export interface KnownKeysDeps {
  readonly keys: Pick<Keys, "holder">;
  readonly clock: Pick<Clock, "monotonicMs">;
  /** A change of accounts is heard at once, not within the seconds that an account is believed. */
  readonly notices?: Pick<Notices, "hear">;
}

interface Known {
  readonly holder: KeyHolder;
  readonly staleAtMs: number;
}

/**
 * How long a key's account is believed without asking again. Revoking, disabling, another tier and
 * granted credits take effect within 5 s, of which this leaves a second to the question itself.
 */
const BELIEVED_MS = 4_000;

const KEYS_MAX = 20_000;

/** Finds the account behind a key; the key itself stays in memory only. */
export class KnownKeys {
  readonly #deps: KnownKeysDeps;
  readonly #known = new Map<string, Known>();
  #asking = new Map<string, Promise<KeyHolder | undefined>>();

  constructor(deps: KnownKeysDeps) {
    this.#deps = deps;
    deps.notices?.hear("accounts", () => this.#forget());
  }

  /** Undefined for a key that is malformed (refused without a question), unknown or revoked. */
  holder(key: string): Awaitable<KeyHolder | undefined> {
    const nowMs = this.#deps.clock.monotonicMs();
    const known = this.#known.get(key);
    if (known !== undefined && nowMs < known.staleAtMs) return known.holder;
    if (known === undefined && !isApiKey(key)) return undefined;
    const asking = this.#asking.get(key) ?? this.#ask(key, nowMs);
    this.#asking.set(key, asking);
    return asking;
  }

  /** Running reads too: they may not have seen the change. */
  #forget(): void {
    this.#known.clear();
    this.#asking = new Map();
  }

  async #ask(key: string, nowMs: number): Promise<KeyHolder | undefined> {
    const asking = this.#asking;
    try {
      const holder = await this.#deps.keys.holder(hashApiKey(key));
      if (asking !== this.#asking) return holder;
      this.#known.delete(key);
      if (holder !== undefined) this.#remember(key, { holder, staleAtMs: nowMs + BELIEVED_MS });
      return holder;
    } finally {
      asking.delete(key);
    }
  }

  #remember(key: string, known: Known): void {
    // Every key is asked about again in seconds anyway, so forgetting all of them costs one question each.
    if (this.#known.size >= KEYS_MAX) this.#known.clear();
    this.#known.set(key, known);
  }
}

import type { Clock } from "../base/clock.ts";
import type { Outcome } from "./cache.ts";
import { EXCHANGE_MAX_MS } from "./flow/patience.ts";
import type { Reply } from "./message/reply.ts";
import type { Asked } from "./query.ts";
import type { Resolver } from "./resolver.ts";

/** Times a question is asked on where an answer stops at an alias. Resolvers follow aliases themselves. */
const ASKS_MAX = 8;

/**
 * Asks for `name` and, where the answer stops at an alias, for what the alias names: at most 8 questions,
 * within 5 s of the first try. A loop, and a target that cannot be asked for, is "malformed". Calls `done` once.
 */
export function chase<T>(
  question: Asked<T>,
  { resolver, clock }: { readonly resolver: Resolver; readonly clock: Clock },
  done: (outcome: Outcome<T>) => void,
): void {
  resolver.ask(question, (reply, spentMs) => {
    if (reply.kind !== "alias") {
      done(reply);
      return;
    }
    const leftMs = EXCHANGE_MAX_MS - spentMs;
    new Chase(question, { resolver, clock, done }, leftMs).follow(reply);
  });
}

type Alias = Extract<Reply<unknown>, { kind: "alias" }>;

interface ChaseDeps<T> {
  readonly resolver: Resolver;
  readonly clock: Clock;
  readonly done: (outcome: Outcome<T>) => void;
}

class Chase<T> {
  readonly #question: Asked<T>;
  readonly #deps: ChaseDeps<T>;
  readonly #seen: Set<string>;
  readonly #cancelDeadline: () => void;
  #ttlSeconds = Infinity;
  #isDone = false;

  constructor(question: Asked<T>, deps: ChaseDeps<T>, leftMs: number) {
    this.#question = question;
    this.#deps = deps;
    this.#seen = new Set([question.name]);
    this.#cancelDeadline = deps.clock.after(Math.max(0, leftMs), () =>
      this.#finish({ kind: "unknown", why: "deadline" }),
    );
  }

  follow({ target, ttlSeconds }: Alias): void {
    this.#ttlSeconds = Math.min(this.#ttlSeconds, ttlSeconds);
    if (this.#question.until?.isPast === true) {
      this.#finish({ kind: "unknown", why: "deadline" });
      return;
    }
    const isStrange = target === "" || target.includes("\\");
    if (isStrange || this.#seen.has(target) || this.#seen.size >= ASKS_MAX) {
      this.#finish({ kind: "unknown", why: "malformed" });
      return;
    }
    this.#seen.add(target);
    this.#deps.resolver.ask({ ...this.#question, name: target }, (reply) => {
      if (this.#isDone) return;
      if (reply.kind === "alias") this.follow(reply);
      else this.#finish(reply);
    });
  }

  #finish(outcome: Outcome<T>): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#cancelDeadline();
    if (outcome.kind === "unknown" || outcome.ttlSeconds === undefined) this.#deps.done(outcome);
    else {
      const ttlSeconds = Math.min(outcome.ttlSeconds, this.#ttlSeconds);
      this.#deps.done({ ...outcome, ttlSeconds });
    }
  }
}

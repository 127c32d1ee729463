import { setTimeout as pause } from "node:timers/promises";
import type { SqlDatabase } from "../../src/store/database.ts";
import { WebhookEndpoints } from "../../src/webhooks/webhooks-store.ts";
import { createSecretBox } from "../../src/base/secrets.ts";
import { accountStore } from "../../src/main/store.ts";
import { systemMachine } from "../../src/main/process.ts";
import { PASSWORD } from "../dashboard/dashboard-world.ts";
import type { Chance } from "../sim/chance.ts";
import { givenTime } from "../time/given-time.ts";
import { type Ground, RECEIVER_URL, SECRET_KEY } from "./ground.ts";
import { SECRET } from "./receiver.ts";

export interface Request {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as a form instead. */
  readonly file?: { readonly name: string; readonly text: string };
}

export interface Reply {
  /** 0: the line was cut before an answer came. */
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

const CUT: Reply = { status: 0, headers: new Headers(), body: "" };

/** No answer, or one that leaves open what happened. */
export const isOpen = ({ status }: Reply): boolean => status === 0 || status >= 500;

/** What the clients share: the way to the servers, and what they found wrong. */
export class Front {
  readonly ground: Ground;
  readonly chance: Chance;
  readonly wrong: string[] = [];
  /** What comes late because the machine is busy is not late. */
  readonly #given = givenTime();
  /** A store that fails on purpose may answer with 500 and 503. */
  storeFails = false;
  answered = 0;
  /** By `nowMs`: when the first process of this round ended; Infinity when none did. */
  endedAtMs = Infinity;
  /** The longest that a request of this round took, answered or cut. */
  slowestMs = 0;
  isOver = false;

  constructor(ground: Ground, chance: Chance) {
    this.ground = ground;
    this.chance = chance;
  }

  nowMs(): number {
    return this.#given.nowMs();
  }

  /** Sends a request to a server that runs. */
  async ask({ method, path, headers = {}, body, file }: Request): Promise<Reply> {
    const servers = this.ground.places.filter(({ command }) => command === "serve");
    const up = servers.flatMap(({ running }) => running?.url ?? []);
    if (up.length === 0) return CUT;
    const url = this.chance.pick(up);
    const begunMs = this.nowMs();
    try {
      const answer = await fetch(`${url}${path}`, {
        method,
        redirect: "manual",
        headers: {
          origin: url,
          ...headers,
          ...(body !== undefined && { "content-type": "application/json" }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(file !== undefined && { body: formOf(file) }),
      });
      const text = await answer.text();
      this.answered += 1;
      const { status } = answer;
      if (status >= 500 && !this.storeFails) {
        this.wrong.push(`${method} ${path} got ${String(status)} ${text}`);
      }
      return { status, headers: answer.headers, body: text };
    } catch {
      return CUT;
    } finally {
      this.slowestMs = Math.max(this.slowestMs, this.nowMs() - begunMs);
    }
  }

  /** Lets each of the clients act again and again until the round is over. */
  async live(acts: readonly (() => Promise<unknown>)[]): Promise<void> {
    const goOn = async (act: () => Promise<unknown>): Promise<void> => {
      while (!this.isOver) {
        await act();
        await pause(this.chance.between(0, 12));
      }
    };
    await Promise.all(acts.map(goOn));
  }
}

function formOf({ name, text }: NonNullable<Request["file"]>): FormData {
  const form = new FormData();
  form.set("file", new Blob([text]), name);
  return form;
}

/** An account, and what its clients know of its units. */
export interface Account {
  readonly id: string;
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Units of answered requests, those of batches among them, and of those that may have been charged. */
  certain: number;
  batches: number;
  possible: number;
  /** When single checks were answered, by `nowMs`; their units are written up to 250 ms later. */
  singles: number[];
}

/** An account with a key, a password and a webhook. */
export async function openAccount(
  sql: SqlDatabase,
  name: string,
  tier: "starter" | "pro",
): Promise<Account> {
  const { accounts, keys, credits } = accountStore(sql, systemMachine);
  const isAdmin = name === "root";
  const order = { email: `${name}@owner.example`, tier, origin: "operator", isAdmin } as const;
  const made = await accounts.create({ ...order, ...(isAdmin && { password: PASSWORD }) });
  if (made.kind !== "created") throw new Error(made.kind);
  const { id } = made.account;
  const key = await keys.create(id, "first");
  if (tier === "starter") await credits.grant(id, 1_000_000, "start");
  const box = createSecretBox(SECRET_KEY);
  await new WebhookEndpoints(sql.db).save({
    accountId: id,
    url: RECEIVER_URL,
    events: [],
    sealedSecret: box.seal(SECRET, id),
  });
  const headers = { "x-api-key": key.apiKey };
  return { id, name, headers, certain: 0, batches: 0, possible: 0, singles: [] };
}

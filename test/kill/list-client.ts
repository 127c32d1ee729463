import { setTimeout as pause } from "node:timers/promises";
import { entriesOf } from "./entries.ts";
import { type Account, type Front, isOpen, type Reply, type Request } from "./front.ts";

interface List {
  readonly id: string;
  readonly units: number;
  /** A check was asked for, so its units may be charged. */
  isAsked: boolean;
  isCharged: boolean;
}

interface State {
  readonly state: "chosen" | "running" | "stopping" | "done";
  readonly failed: boolean;
  readonly charged: number;
  readonly read?: { readonly counts: Readonly<Record<string, number>>; readonly open: number };
}

/** Somebody signed in who reads one file after the other and has it checked. */
export class ListClient {
  readonly account: Account;
  /** Lists whose check ended, by their id. */
  readonly ended: string[] = [];
  /** The newest answer, for a person who looks for why a list does not end. */
  last = "";
  readonly #front: Front;
  readonly #cookie: () => string;
  #list: List | undefined;

  constructor(front: Front, account: Account, cookie: () => string) {
    this.#front = front;
    this.account = account;
    this.#cookie = cookie;
  }

  get isIdle(): boolean {
    return this.#list === undefined;
  }

  /** One step. */
  async act(): Promise<void> {
    if (this.#list === undefined) await this.#upload();
    else if (this.#list.isAsked) await this.#look(this.#list);
    else await this.#check(this.#list);
  }

  /** Goes on with what it has begun, and begins nothing. */
  async finish(): Promise<void> {
    if (this.#list !== undefined) await this.act();
  }

  async #ask(request: Request): Promise<Reply | undefined> {
    const { method, path } = request;
    const reply = await this.#front.ask({ ...request, headers: { cookie: this.#cookie() } });
    this.last = `${method} ${path}: ${String(reply.status)} ${reply.body.slice(0, 200)}`;
    if (isOpen(reply)) return undefined;
    // The plan's rate, or a check of before a kill that goes on.
    if (reply.status === 429 || reply.status === 409) await pause(50);
    else if (reply.status >= 300) this.#front.wrong.push(this.last);
    return reply;
  }

  async #upload(): Promise<void> {
    const { chance } = this.#front;
    const entries = entriesOf(chance, 1 + chance.below(150));
    const file = { name: "list.csv", text: `email\n${entries.join("\n")}\n` };
    const reply = await this.#ask({ method: "POST", path: "/account/lists", file });
    if (reply?.status === 409) await this.#clear();
    if (reply?.status !== 200) return;
    const { id } = JSON.parse(reply.body) as { readonly id: string };
    this.#list = { id, units: entries.length, isAsked: false, isCharged: false };
  }

  /** An account has room for ten: those that are over, and those whose answer was cut. */
  async #clear(): Promise<void> {
    const reply = await this.#ask({ method: "GET", path: "/account/lists" });
    if (reply?.status !== 200) return;
    const { lists } = JSON.parse(reply.body) as { lists: readonly { readonly id: string }[] };
    for (const { id } of lists) await this.#ask({ method: "DELETE", path: `/account/lists/${id}` });
  }

  async #check(list: List): Promise<void> {
    list.isAsked = true;
    if (!list.isCharged) this.account.possible += list.units;
    const path = `/account/lists/${list.id}/check`;
    await this.#see(list, await this.#ask({ method: "POST", path, body: {} }));
  }

  async #look(list: List): Promise<void> {
    await this.#see(list, await this.#ask({ method: "GET", path: `/account/lists/${list.id}` }));
  }

  async #see(list: List, reply: Reply | undefined): Promise<void> {
    if (reply?.status !== 200) return;
    const { state, failed, charged, read } = JSON.parse(reply.body) as State;
    if (charged > 0 && !list.isCharged) {
      list.isCharged = true;
      this.account.possible -= list.units;
      this.account.certain += list.units;
      this.account.batches += list.units;
    }
    if (state === "running") return await pause(20);
    if (state === "chosen") {
      // Its order was cut before it was taken.
      if (!list.isCharged) this.account.possible -= list.units;
      list.isAsked = false;
      return;
    }
    const rows = Object.values(read?.counts ?? {}).reduce((sum, count) => sum + count, 0);
    if (failed || charged !== list.units || rows !== list.units || read?.open !== 0) {
      this.#front.wrong.push(`a list of ${String(list.units)} rows ended as ${reply.body}`);
    }
    this.ended.push(list.id);
    this.#list = undefined;
  }
}

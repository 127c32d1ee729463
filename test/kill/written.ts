import { setTimeout as pause } from "node:timers/promises";
import type { SqlDatabase } from "../../src/store/database.ts";
import { PASSWORD } from "../dashboard/dashboard-world.ts";
import { type Account, type Front, isOpen, type Reply, type Request } from "./front.ts";

/** Something that people make at the dashboard, and that is there from then on, once. */
interface Kind {
  readonly make: (name: string, self: Written) => Request;
  /** What takes it back; absent: it stays. */
  readonly undo?: (name: string, self: Written) => Request | undefined;
  /** The names of all there are. */
  readonly found: (sql: SqlDatabase, root: Account) => Promise<readonly string[]>;
}

const policy = (reason: string) => ({
  document: { rules: [{ when: { format: true }, then: "accept", reason }], else: "reject" },
});

const KINDS: Readonly<Record<string, Kind>> = {
  key: {
    make: (name) => ({ method: "POST", path: "/account/keys", body: { name } }),
    undo(name, { keys }) {
      const id = keys.get(name)?.id;
      return id === undefined ? undefined : { method: "DELETE", path: `/account/keys/${id}` };
    },
    found: async ({ db }, { id }) => {
      const query = db.selectFrom("api_keys").select("name").where("account_id", "=", id);
      const rows = await query.where("revoked_at_ms", "is", null).execute();
      return rows.map(({ name }) => name);
    },
  },
  policy: {
    make: (name) => ({ method: "POST", path: `/account/policies/${name}`, body: policy(name) }),
    undo: (name) => ({ method: "DELETE", path: `/account/policies/${name}` }),
    found: async ({ db }) => {
      const query = db.selectFrom("policies").select("name").where("name", "like", "policy%");
      const rows = await query.where("live_version", "is not", null).execute();
      return rows.map(({ name }) => name);
    },
  },
  version: {
    make: (name) => ({ method: "POST", path: "/account/policies/default", body: policy(name) }),
    found: async ({ db }, { id }) => {
      const query = db.selectFrom("policy_versions").select("document");
      const rows = await query.where("name", "=", "default").where("account_id", "=", id).execute();
      return rows.map(({ document }) => /"reason":"(\w+)"/.exec(document)?.[1] ?? "");
    },
  },
  rule: {
    make: (name) => ({
      method: "POST",
      path: "/account/admin/lists/entries",
      body: { entry: `${name}.rule.example`, kind: "deny", note: "" },
    }),
    undo: (name) => ({
      method: "POST",
      path: "/account/admin/lists/forget",
      body: { entry: `${name}.rule.example` },
    }),
    found: async ({ db }) => {
      const rows = await db.selectFrom("operator_entries").select("subject").execute();
      return rows.map(({ subject }) => /\w+/.exec(subject)?.[0] ?? "");
    },
  },
  grant: {
    make: (name, { root }) => ({
      method: "POST",
      path: `/account/admin/accounts/${root.id}/credits`,
      body: { amount: 1, reason: name },
    }),
    found: async ({ db }, { id }) => {
      const query = db.selectFrom("credit_entries").select("reference");
      const rows = await query.where("account_id", "=", id).execute();
      return rows.map(({ reference }) => reference);
    },
  },
};

/** Whether it must be there; open: an answer is missing. */
type State = "there" | "gone" | "open";

/** Letters only, for reasons of policies. */
const word = (count: number): string =>
  Array.from(String(count), (digit) => "abcdefghij"[Number(digit)]).join("");

/** So many of each that can be taken back are kept. */
const KEPT_MAX = 8;

/** Of one kind that are known; of versions the service keeps 500. */
const STATES_MAX = 300;

/** An administrator who makes and takes back what an installation consists of. */
export class Written {
  readonly root: Account;
  readonly keys = new Map<string, { readonly id: string; readonly api_key: string }>();
  /** Of the policy `default`; the newest that an answer named. */
  version = 1;
  readonly #front: Front;
  readonly #states = new Map<string, Map<string, State>>();
  #cookie = "";
  #made = 0;

  constructor(front: Front, root: Account) {
    this.#front = front;
    this.root = root;
    for (const kind of Object.keys(KINDS)) this.#states.set(kind, new Map());
  }

  get cookie(): string {
    return this.#cookie;
  }

  /** The sign-in outlives every kill. */
  async signIn(): Promise<void> {
    const body = { email: "root@owner.example", password: PASSWORD };
    const reply = await this.#front.ask({ method: "POST", path: "/account/sign-in", body });
    this.#cookie = reply.headers.get("set-cookie")?.split(";")[0] ?? "";
    if (reply.status !== 204) this.#front.wrong.push(`a sign-in got ${String(reply.status)}`);
  }

  async act(): Promise<void> {
    const { chance } = this.#front;
    const [kind, of] = chance.pick(Object.entries(KINDS));
    const states = this.#states.get(kind) ?? new Map<string, State>();
    const there = [...states].filter(([, state]) => state === "there").map(([name]) => name);
    const isMany = there.length >= KEPT_MAX;
    const old = there.length > 0 && (isMany || chance.isTrue(0.3)) ? chance.pick(there) : "";
    const undo = old === "" ? undefined : of.undo?.(old, this);
    if (undo !== undefined) return await this.#send(states, old, undo, "gone");
    this.#made += 1;
    const name = `${kind}${word(this.#made)}`;
    await this.#send(states, name, of.make(name, this), "there");
  }

  async #send(
    states: Map<string, State>,
    name: string,
    request: Request,
    then: State,
  ): Promise<void> {
    states.set(name, "open");
    const reply = await this.#front.ask({ ...request, headers: { cookie: this.#cookie } });
    if (isOpen(reply)) return;
    // In a long round somebody fast reaches the rate of the plan.
    if (reply.status === 429) return await pause(500);
    states.set(name, then);
    if (reply.status >= 300) {
      this.#front.wrong.push(`${request.method} ${request.path}: ${reply.body}`);
    } else this.#learn(name, reply);
  }

  #learn(name: string, { body }: Reply): void {
    if (name.startsWith("key") && body !== "") this.keys.set(name, JSON.parse(body) as never);
    if (name.startsWith("version")) {
      this.version = Math.max(this.version, (JSON.parse(body) as { version: number }).version);
    }
  }

  /** What was answered is there once, or gone; what was not answered is either, and known from now on. */
  async check(sql: SqlDatabase): Promise<void> {
    for (const [kind, of] of Object.entries(KINDS)) {
      const states = this.#states.get(kind) ?? new Map<string, State>();
      const found = counted(await of.found(sql, this.root));
      for (const [name, state] of states) {
        const times = found.get(name) ?? 0;
        if (!isPossible(state, times)) {
          this.#front.wrong.push(`${name} is ${state}, and there ${String(times)} times`);
        }
        if (times === 1) states.set(name, "there");
        else states.delete(name);
      }
      for (const name of [...states.keys()].slice(0, -STATES_MAX)) states.delete(name);
    }
    await this.#checkKeys();
  }

  /** A key that was answered works, and one whose end was answered does not. */
  async #checkKeys(): Promise<void> {
    const states = this.#states.get("key");
    for (const [name, { api_key: apiKey }] of this.keys) {
      const isThere = states?.get(name) === "there";
      const headers = { "x-api-key": apiKey };
      const reply = await this.#front.ask({ method: "GET", path: "/api/view/none", headers });
      // An address that sent many keys that are gone is refused with 429 for a while; a key that works is not.
      const isRefused = reply.status === 401 || (reply.status === 429 && !isThere);
      if (reply.status !== 0 && isRefused === isThere) {
        this.#front.wrong.push(`${name}, which is ${isThere ? "there" : "gone"}: ${reply.body}`);
      }
      if (!isThere) this.keys.delete(name);
    }
  }
}

function counted(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

const isPossible = (state: State, times: number): boolean =>
  state === "open" ? times < 2 : times === (state === "there" ? 1 : 0);

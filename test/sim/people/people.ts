import type { Chance } from "../chance.ts";
import { Batches } from "./batches.ts";
import type { beginningOf } from "../faults.ts";
import { Front } from "../front.ts";
import { Gate } from "./gate.ts";
import { chargedOn, newOwner, type Owner } from "../ledger.ts";
import { entryOf, fateOf, MUTE, TIDAL } from "../names.ts";
import { Visits } from "./visits.ts";
import type { Operator } from "../operator.ts";
import type { Reply, World } from "../world.ts";

/** Their daily limits are of the tiers file in `world.ts`. */
const ACCOUNTS = [
  ["ada", "starter", Infinity],
  ["bob", "pro", Infinity],
  ["cat", "pro", Infinity],
  ["eve", "free", 12],
] as const;
const STRANGER = { address: "203.0.113.9", dailyLimit: 16 };

const MISTAKES = [
  { url: "/api/email", body: {}, status: 400 },
  { url: "/api/email", body: { bulk: true, email: "" }, status: 400 },
  {
    url: "/api/decide",
    body: { email: "user1@d1.live.test-zone.com", policy: "none" },
    status: 404,
  },
] as const;

/** What somebody begins with. */
type Beginning = NonNullable<ReturnType<typeof beginningOf>>;

/** A change is in force after this time everywhere. */
const IN_FORCE_MS = 5_000;

/** Clients and an operator who use the service as people do, and notice what is wrong. */
export class People {
  readonly front: Front;
  readonly batches: Batches;
  readonly gate: Gate;
  readonly #visits: Visits;
  readonly world: World;
  readonly #chance: Chance;
  readonly #operator: Operator;
  #rules = 0;

  constructor(world: World, operator: Operator) {
    this.world = world;
    this.#chance = world.chance.fork();
    this.#operator = operator;
    this.front = new Front(world);
    this.batches = new Batches(this.front, this.#chance);
    this.gate = new Gate(this.front, this.#chance, operator);
    this.#visits = new Visits(this.front, this.#chance, operator);
  }

  async begin(): Promise<void> {
    const { owners } = this.front;
    for (const [name, tier, dailyLimit] of ACCOUNTS) {
      const email = `${name}@people.example`;
      const order = { email, tier, origin: "operator", isAdmin: false } as const;
      const made = await this.#operator.accounts.create(order);
      if (made.kind !== "created") throw new Error(made.kind);
      const { id } = made.account;
      const headers = { authorization: `Bearer ${(await this.#newKey(id)).apiKey}` };
      const address = `198.51.100.${String(owners.length + 1)}`;
      const owner = newOwner({ key: `account:${id}`, headers, address, dailyLimit });
      owners.push(owner);
      if (dailyLimit < Infinity) continue;
      const url = `https://${name}.live.test-zone.com/`;
      const { secret } = await this.#operator.setup.set(id, url, []);
      owner.webhook = { url, secret };
      await this.gate.begin(owner);
    }
    owners.push(newOwner({ key: `bucket:${STRANGER.address}`, headers: {}, ...STRANGER }));
  }

  /** One person for some seconds. */
  async live(actions: number, beginsWith: readonly (Beginning | undefined)[] = []): Promise<void> {
    const beginnings = { job: () => this.#submitJob(), rush: () => this.#rush() };
    const first = new Set(beginsWith.filter((one) => one !== undefined));
    await Promise.all([...first].map((one) => beginnings[one]()));
    for (let action = 0; action < actions; action += 1) {
      await this.world.timeline.sleep(this.#chance.between(50, 1_500));
      const owner = this.#chance.pick(this.front.owners);
      const what = this.#chance.next();
      const [act] = this.#acts.find(([, upTo]) => what < upTo) ?? [];
      await act?.(owner);
    }
  }

  /** Somebody asks the same every day: an answer of yesterday is too old. */
  async greet(): Promise<void> {
    const owner = this.#chance.pick(this.#endless);
    if (this.#chance.isTrue(0.5)) return void (await this.#check(owner, TIDAL));
    await this.gate.decide(owner, `user1@${TIDAL}`);
    // The same person signs up elsewhere.
    const others = this.#endless.filter((one) => one !== owner);
    await this.gate.decide(this.#chance.pick(others), `user1@${TIDAL}`);
  }

  /** Accounts without a daily limit. */
  get #endless(): readonly Owner[] {
    return this.front.owners.filter(({ dailyLimit }) => dailyLimit === Infinity);
  }

  get #limited(): readonly Owner[] {
    return this.front.owners.filter(({ dailyLimit }) => dailyLimit < Infinity);
  }

  async #submitJob(): Promise<void> {
    const owner = this.#chance.pick(this.#endless);
    // Mostly of two or three chunks: one of them ends while others are open. A small one is answered at once.
    const count = this.#chance.pick([1, 120, 520, 520, 1_020]) + this.#chance.below(40);
    await this.batches.submit(owner, count);
  }

  /** Many people of one owner at once, up to what its day has and beyond; one of another owner asks the same. */
  async #rush(owner = this.#chance.pick(this.#limited)): Promise<void> {
    const { certain, possible } = chargedOn(owner, this.front.today());
    const left = Math.min(Math.max(0, owner.dailyLimit - certain - possible), 10);
    const entry = entryOf(this.#chance);
    const address = entry.includes("@") ? entry : `user1@${entry}`;
    const areBatches = this.#chance.isTrue(0.3);
    const lastMs = this.#chance.pick(areBatches ? [1, 1, 100] : [1, 300, 2_000]);
    const one = async (): Promise<unknown> => {
      await this.world.timeline.sleep(this.#chance.between(0, lastMs));
      const what = areBatches ? 1 : this.#chance.next();
      if (what < 0.2) return await this.#check(owner, entry);
      if (what < 0.3) return await this.#err(owner);
      if (what < 0.55) return await this.#check(owner);
      if (what < 0.75) return await this.gate.decide(owner, address);
      return await this.batches.submit(owner, 1 + this.#chance.below(4));
    };
    const other = this.#chance.pick(this.front.owners);
    await Promise.all([
      ...Array.from({ length: this.#chance.isTrue(0.5) ? left + 2 : 4 }, one),
      this.#check(other, entry),
      this.gate.decide(other, address),
    ]);
    await this.world.timeline.sleep(this.#chance.between(50, 1_500));
    await this.#useUp(owner);
  }

  /** All that is left of its day, and one more. */
  async #useUp(owner: Owner): Promise<void> {
    const { certain, possible } = chargedOn(owner, this.front.today());
    const left = owner.dailyLimit - certain - possible;
    if (left > 0 && left < Infinity) await this.batches.submit(owner, left);
    await this.#check(owner);
  }

  /** An owner uses all that its day has, and goes on. */
  async #spend(): Promise<void> {
    const owner = this.#chance.pick(this.#limited);
    if (this.#chance.isTrue(0.5)) await this.#grant(owner);
    await this.#useUp(owner);
    if (this.#chance.isTrue(0.5)) await this.batches.submit(owner, 2 + this.#chance.below(4));
    await this.#check(owner);
  }

  /** What people do, each up to its share of 0 to 1. */
  readonly #acts: readonly (readonly [(owner: Owner) => Promise<unknown>, number])[] = [
    [(owner) => this.#check(owner), 0.22],
    [(owner) => this.#rush(owner), 0.29],
    [(owner) => this.#err(owner), 0.32],
    [(owner) => this.gate.decide(owner), 0.43],
    [(owner) => this.batches.submit(owner), 0.65],
    [() => this.batches.look(), 0.7],
    [() => this.batches.peep(), 0.74],
    [(owner) => this.#revoke(owner), 0.77],
    [() => this.#spend(), 0.81],
    [(owner) => this.#deny(owner), 0.84],
    [(owner) => this.gate.changePolicy(owner), 0.9],
    [(owner) => this.gate.useInPage(owner), 0.94],
    [(owner) => this.#visits.visit(owner), 1],
  ];

  /** What is refused for a mistake in it costs nothing. */
  async #err(owner: Owner): Promise<void> {
    const { body, url, status } = this.#chance.pick(MISTAKES);
    // A store that cannot say whether there is such a policy leaves the decision to the built-in one.
    const charged = chargedOn(owner, this.front.today());
    charged.possible += 1;
    const reply = await this.front.ask(owner, { method: "POST", url }, { body });
    if (reply.status >= 400 && reply.status < 500) this.front.free(charged, 1);
    const isFine = [status, 0, 401, 429].includes(reply.status) || reply.status >= 500;
    const isPlanless = status === 404 && reply.status === 200 && !this.front.isCalm;
    if (!isFine && !isPlanless) this.front.wrong(`a mistake got ${String(reply.status)}`);
  }

  #anyEntry(): string {
    return this.#chance.isTrue(0.03) ? MUTE : entryOf(this.#chance);
  }

  async #newKey(accountId: string): Promise<{ readonly id: string; readonly apiKey: string }> {
    const made = await this.#operator.keys.create(accountId, "sim");
    return { id: made.key.id, apiKey: made.apiKey };
  }

  async #check(owner: Owner, entry = this.#anyEntry()): Promise<Reply> {
    const { front } = this;
    const charged = chargedOn(owner, front.today());
    // While the request is under way it may be charged or not.
    charged.possible += 1;
    const isAddress = entry.includes("@");
    const url = isAddress ? "/api/email" : "/api/domain";
    const body = isAddress ? { email: entry } : { domain: entry };
    const reply = await front.ask(owner, { method: "POST", url }, { body });
    if (reply.status === 200) {
      charged.possible -= 1;
      charged.certain += 1;
      this.#compare(entry, reply.body);
    } else if (reply.status === 429) {
      front.refused(owner, { charged, units: 1 }, reply);
    } else if (reply.status !== 0 && !front.weather.storeFails) {
      front.wrong(`a check was answered ${String(reply.status)}`);
    }
    return reply;
  }

  #compare(entry: string, body: string): void {
    if (this.front.weather.namesFail) return;
    const { format, dns } = JSON.parse(body) as { format: boolean; dns: boolean };
    const fate = fateOf(entry, this.front.world.names);
    const isRight = format === (fate !== "invalid_format") && dns === (fate === "valid");
    if (!isRight) this.front.wrong(`${entry} is ${fate}, and was answered ${body}`);
  }

  /** A revoked key is refused after 5 s. */
  async #revoke(owner: Owner): Promise<void> {
    if (!owner.key.startsWith("account:")) return;
    const { keys } = this.#operator;
    const id = owner.key.slice("account:".length);
    const old = { key: owner.key, address: owner.address, headers: { ...owner.headers } };
    const made = await this.#newKey(id);
    owner.headers["authorization"] = `Bearer ${made.apiKey}`;
    owner.revocations += 1;
    for (const { id: keyId, revoked_at_ms: revokedAtMs } of await keys.list(id)) {
      if (revokedAtMs === null && keyId !== made.id) await keys.revoke(keyId);
    }
    await this.world.timeline.sleep(IN_FORCE_MS);
    const charged = chargedOn(owner, this.front.today());
    charged.possible += 1;
    const order = { method: "POST", url: "/api/email" } as const;
    const { status } = await this.front.ask(old, order, { body: { email: "x" } });
    if (status === 401) this.front.free(charged, 1);
    if (this.front.isCalm && status === 200) this.front.wrong("a revoked key is served");
  }

  async #grant(owner: Owner): Promise<void> {
    if (owner.dailyLimit === Infinity || !owner.key.startsWith("account:")) return;
    const id = owner.key.slice("account:".length);
    await this.#operator.credits.grant(id, 5, "simulated");
    owner.grantedAtMs = this.world.timeline.nowMs;
  }

  /** A rule of the operator is in force after 5 s. */
  async #deny(owner: Owner): Promise<void> {
    this.#rules += 1;
    const domain = `rule${String(this.#rules)}.live.test-zone.com`;
    const isDisposable = async (): Promise<boolean | undefined> => {
      const reply = await this.#check(owner, domain);
      if (reply.status !== 200) return undefined;
      return (JSON.parse(reply.body) as { disposable: boolean }).disposable;
    };
    if ((await isDisposable()) === true) this.front.wrong("a domain without a rule is disposable");
    await this.#operator.rules.save(domain, "deny", { note: "", author: "sim" });
    await this.world.timeline.sleep(IN_FORCE_MS);
    if ((await isDisposable()) === false && this.front.isCalm) {
      this.front.wrong("a rule is not in force after 5 s");
    }
    await this.#operator.rules.forget(domain);
    if (!this.#chance.isTrue(0.5)) return;
    await this.world.timeline.sleep(IN_FORCE_MS);
    if ((await isDisposable()) === true && this.front.isCalm) {
      this.front.wrong("a rule is in force 5 s after its end");
    }
  }
}

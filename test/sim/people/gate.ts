import type { Chance } from "../chance.ts";
import type { Front } from "../front.ts";
import { chargedOn, type Owner } from "../ledger.ts";
import { entryOf, type Fate, fateOf } from "../names.ts";
import { Tokens } from "./tokens.ts";
import type { Operator } from "../operator.ts";
import type { Reply } from "../world.ts";

/** A change of a policy or a key is in force everywhere after this time. */
const IN_FORCE_MS = 5_000;
/** The network both ways, and a step of the machine. */
const SLACK_MS = 100;
/** Lost first answers of name servers cost 800 ms each. */
const PATIENT_MS = 3_000;

const OWN = ["accept", "challenge", "review"] as const;

interface Version {
  readonly version: number;
  /** What it decides of an address that takes mail. */
  readonly then: (typeof OWN)[number];
  /** Infinity: it is a shadow. */
  liveFromMs: number;
}

interface Answer {
  readonly decision: string;
  readonly reason: string;
  readonly complete: boolean;
  readonly policy: { readonly name: string; readonly version: number };
  readonly mailbox?: { readonly id: string };
  readonly result?: { readonly dns: boolean };
  readonly token?: string;
}

/** People who guard a form: decisions, policies, tokens, keys for pages. */
export class Gate {
  readonly #front: Front;
  readonly #chance: Chance;
  readonly #operator: Operator;
  readonly #versions = new Map<string, Version[]>();
  readonly #mailboxes = new Map<string, string>();
  /** Whose each mailbox id is. */
  readonly #mailboxOf = new Map<string, string>();
  readonly #tokens: Tokens;
  /** Decisions for an account: those stored at the last rest, and since then certainly and perhaps. */
  readonly #counted = new Map<string, { before: number; certain: number; possible: number }>();
  /** What is stored of this day and later counts. */
  #sinceDay = 0;

  constructor(front: Front, chance: Chance, operator: Operator) {
    this.#front = front;
    this.#chance = chance;
    this.#operator = operator;
    this.#tokens = new Tokens(front);
  }

  /** Each decision is counted once; a kill may lose those of a second. Called at rest. */
  compareCounts(): void {
    const front = this.#front;
    const storedOf = this.#storedSince(this.#sinceDay);
    // Older days are deleted one day. A clock may be some seconds wrong.
    this.#sinceDay = front.today() - 1;
    const afterwards = this.#storedSince(this.#sinceDay);
    for (const [key, { before, certain, possible }] of this.#counted) {
      if (!key.startsWith("account:")) continue;
      const stored = storedOf.get(key) ?? 0;
      const least = before + certain - (front.weather.hasKills ? 20 : 0);
      const isFit = stored >= least && stored <= before + certain + possible;
      if (!isFit && !front.weather.storeFails) {
        front.wrong(`${String(stored)} decisions are counted, not ${String(least)}`);
      }
      this.#counted.set(key, { before: afterwards.get(key) ?? 0, certain: 0, possible: 0 });
    }
  }

  /** Of each account. */
  #storedSince(day: number): ReadonlyMap<string, number> {
    const rows = this.#front.world.store.rows(
      `select account_id as id, sum(count) as count from outcome_counts where day >= ${String(day)} group by account_id`,
    );
    return new Map(rows.map(({ id, count }) => [`account:${String(id)}`, Number(count)]));
  }

  /** Decides on one sign-up, by a deadline. */
  async decide(owner: Owner, address = this.#anyAddress()): Promise<void> {
    await this.#decide(owner, address, this.#chance.pick([300, 1_000, PATIENT_MS]));
  }

  #anyAddress(): string {
    return `user${String(this.#chance.below(30))}@${entryOf(this.#chance).replace(/^.*@/, "")}`;
  }

  #fateOf(address: string): Fate {
    return fateOf(address, this.#front.world.names);
  }

  async #decide(owner: Owner, address: string, deadlineMs: number): Promise<Answer | undefined> {
    const front = this.#front;
    const body = { email: address, deadline_ms: deadlineMs, token: this.#chance.isTrue(0.3) };
    const charged = chargedOn(owner, front.today());
    const counted = this.#countedOf(owner);
    const startMs = front.world.timeline.nowMs;
    charged.possible += 1;
    counted.possible += 1;
    // Whatever the stores do.
    const limitMs = front.weather.isFrozen ? undefined : deadlineMs + SLACK_MS;
    const order = { method: "POST", url: "/api/decide" } as const;
    const reply = await front.ask(owner, order, { body }, limitMs);
    if (reply.status === 429) {
      counted.possible -= 1;
      front.refused(owner, { charged, units: 1 }, reply);
    }
    if (reply.status !== 200) return undefined;
    const answer = JSON.parse(reply.body) as Answer;
    if (reply.isUncharged === true) {
      front.free(charged, 1);
      return answer;
    }
    if (front.isCalm) {
      charged.possible -= 1;
      charged.certain += 1;
      counted.possible -= 1;
      counted.certain += 1;
    }
    this.#compare(owner, address, { answer, startMs, deadlineMs });
    const isDue = body.token && owner.key.startsWith("account:");
    if (answer.token === undefined) {
      if (isDue && front.isCalm && answer.complete) front.wrong("a token is missing");
    } else {
      if (!isDue) front.wrong("a token is unasked");
      this.#tokens.check(owner.key, address, answer, answer.token);
    }
    return answer;
  }

  #countedOf({ key }: Pick<Owner, "key">) {
    const known = this.#counted.get(key) ?? { before: 0, certain: 0, possible: 0 };
    this.#counted.set(key, known);
    return known;
  }

  #compare(
    owner: Owner,
    address: string,
    given: { readonly answer: Answer; readonly startMs: number; readonly deadlineMs: number },
  ): void {
    const { answer, startMs, deadlineMs } = given;
    const front = this.#front;
    const isSlow = !front.isCalm || front.weather.namesFail || deadlineMs < PATIENT_MS;
    if (!answer.complete && !isSlow) front.wrong("a decision is not complete");
    if (answer.complete && answer.decision !== this.#wanted(owner, address, answer)) {
      front.wrong(`${address} is ${this.#fateOf(address)}, and the gate said ${answer.reason}`);
    }
    if (!answer.complete && answer.decision !== "accept")
      front.wrong("a slow name is not accepted");
    this.#checkVersion(owner, answer, startMs);
    this.#checkMailbox(owner, address, answer);
  }

  #wanted({ key }: Owner, address: string, { policy: { version }, reason }: Answer): string {
    const fate = this.#fateOf(address);
    if (fate !== "valid")
      return this.#front.weather.namesFail && reason === "unknown" ? "accept" : "reject";
    // While a store fails the built-in policy may decide, whose number is 1 as well.
    if (!reason.startsWith("own_") && !this.#front.isCalm) return "accept";
    return this.#versions.get(key)?.find((one) => one.version === version)?.then ?? "accept";
  }

  /** The version that decides is live, and of this account. */
  #checkVersion({ key }: Owner, { policy: { version }, reason }: Answer, startMs: number): void {
    const front = this.#front;
    const known = this.#versions.get(key) ?? [];
    const live = known.filter(({ liveFromMs }) => liveFromMs <= startMs - IN_FORCE_MS);
    const newest = live.toSorted((a, b) => a.liveFromMs - b.liveFromMs).at(-1)?.version ?? 1;
    const fresh = known.filter(({ liveFromMs }) => liveFromMs > startMs - IN_FORCE_MS);
    const possible = fresh.filter(({ liveFromMs }) => liveFromMs < Infinity);
    const isKnown = [newest, ...possible.map((one) => one.version)].includes(version);
    if (!isKnown && front.isCalm)
      front.wrong(`policy ${String(version)} decides, not ${String(newest)}`);
    if (reason.startsWith("own_") && reason !== ownReason(key)) {
      front.wrong("the policy of another account decides");
    }
  }

  #checkMailbox({ key }: Owner, address: string, { mailbox }: Answer): void {
    const isAccount = key.startsWith("account:");
    if (this.#fateOf(address) === "invalid_format") return;
    if (mailbox === undefined) {
      // While the store fails, nobody can say in time whose the key is.
      if (isAccount && this.#front.isCalm) this.#front.wrong("a mailbox id is missing");
      return;
    }
    if (!isAccount) this.#front.wrong("a mailbox id is unasked");
    const name = `${key} ${address}`;
    const known = this.#mailboxes.get(name) ?? mailbox.id;
    if (known !== mailbox.id) this.#front.wrong("a mailbox has two ids");
    const other = this.#mailboxOf.get(mailbox.id) ?? name;
    if (other !== name) this.#front.wrong("two mailboxes have one id");
    this.#mailboxes.set(name, mailbox.id);
    this.#mailboxOf.set(mailbox.id, name);
  }

  /** An account comes with a policy of its own; those of two accounts have the same number. */
  async begin(owner: Owner): Promise<void> {
    const then = OWN[this.#versions.size % OWN.length] ?? "accept";
    await this.#save(owner, then, "live");
  }

  async #save(owner: Owner, then: Version["then"], as: "live" | "shadow"): Promise<Version[]> {
    const id = owner.key.slice("account:".length);
    const account = { id, tier: "pro", origin: "operator", createdAtMs: 0 } as const;
    const known = this.#versions.get(owner.key) ?? [];
    this.#versions.set(owner.key, known);
    const document = documentOf(owner, then);
    const by = { account, author: "sim" };
    const { version } = await this.#operator.policies.save(by, "default", document, as);
    const liveFromMs = as === "shadow" ? Infinity : this.#front.world.timeline.nowMs;
    known.push({ version, then, liveFromMs });
    return known;
  }

  /** A new version decides after 5 s; one that runs as shadow decides nothing until it is promoted. */
  async changePolicy(owner: Owner): Promise<void> {
    if (!owner.key.startsWith("account:")) return;
    const { timeline } = this.#front.world;
    const then = this.#chance.pick(OWN);
    const isShadow = this.#chance.isTrue(0.5);
    const address = "user1@d1.live.test-zone.com";
    await this.#decide(owner, address, PATIENT_MS);
    const known = await this.#save(owner, then, isShadow ? "shadow" : "live");
    await timeline.sleep(IN_FORCE_MS);
    await this.#decide(owner, address, PATIENT_MS);
    if (!isShadow || this.#chance.isTrue(0.3)) return;
    await this.#promote(owner.key.slice("account:".length), known);
    await timeline.sleep(IN_FORCE_MS);
    await this.#decide(owner, address, PATIENT_MS);
  }

  /** Whichever is the shadow by now: others may have saved one meanwhile. */
  async #promote(accountId: string, known: readonly Version[]): Promise<void> {
    const { timeline } = this.#front.world;
    const shadows = known.filter(({ liveFromMs }) => liveFromMs === Infinity);
    for (const one of shadows) one.liveFromMs = timeline.nowMs;
    const promoted = await this.#operator.policies
      .promote(accountId, "default")
      .catch(() => undefined);
    for (const one of shadows)
      one.liveFromMs = one.version === promoted?.version ? timeline.nowMs : Infinity;
  }

  /** A key for pages opens one route, from its own pages. */
  async useInPage(owner: Owner): Promise<void> {
    if (!owner.key.startsWith("account:")) return;
    const id = owner.key.slice("account:".length);
    const made = await this.#operator.keys.create(id, "page", {
      origins: ["https://shop.example"],
    });
    const ask = async (url: string, origin?: string): Promise<Reply> => {
      const headers = { authorization: `Bearer ${made.apiKey}`, ...(origin && { origin }) };
      const charged = chargedOn(owner, this.#front.today());
      charged.possible += 1;
      this.#countedOf(owner).possible += 1;
      const body = { email: "user1@d1.live.test-zone.com" };
      return await this.#front.ask({ ...owner, headers }, { method: "POST", url }, { body });
    };
    const own = await ask("/api/decide", "https://shop.example");
    if (own.status === 200 && /"(?:result|mailbox)"/.test(own.body)) {
      this.#front.wrong("a page reads a result or a mailbox");
    }
    const foreign = [await ask("/api/decide", "https://other.example"), await ask("/api/decide")];
    // Whose the key is, and which pages are its own, may not be known in time.
    if (!this.#front.isCalm) foreign.length = 0;
    foreign.push(await ask("/api/email", "https://shop.example"));
    if (foreign.some(({ status }) => status === 200)) {
      this.#front.wrong("a publishable key opens more than its own pages' decisions");
    }
    await this.#operator.keys.revoke(made.key.id);
  }
}

const LETTERS = "abcdefghijklmnop";

/** In letters, so that a policy may use it. */
function ownReason(key: string): string {
  const id = key.slice("account:".length, "account:".length + 8);
  return `own_${Array.from(id, (hex) => LETTERS[Number.parseInt(hex, 16)] ?? "").join("")}`;
}

const documentOf = ({ key }: Owner, then: string) => ({
  rules: [
    { when: { format: false }, then: "reject", reason: "format" },
    { when: { dns: "no" }, then: "reject", reason: "no_mail_server" },
    { when: { dns: "unknown" }, then: "accept", reason: "unknown" },
    { when: { format: true }, then, reason: ownReason(key) },
  ],
  else: "accept",
});

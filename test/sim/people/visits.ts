import type { Chance } from "../chance.ts";
import type { Front } from "../front.ts";
import { chargedOn, type Owner } from "../ledger.ts";
import type { Operator } from "../operator.ts";
import type { Reply } from "../world.ts";

/** A change by one server is in force on all of them after this time. */
const IN_FORCE_MS = 5_000;

/** People at the dashboard: sign-ins, and keys made and revoked there. */
export class Visits {
  readonly #front: Front;
  readonly #chance: Chance;
  readonly #operator: Operator;

  constructor(front: Front, chance: Chance, operator: Operator) {
    this.#front = front;
    this.#chance = chance;
    this.#operator = operator;
  }

  async visit(owner: Owner): Promise<void> {
    if (!owner.key.startsWith("account:")) return;
    const id = owner.key.slice("account:".length);
    const visitor = { clientAddress: owner.address, userAgent: "sim" };
    await this.#others(id, visitor);
    const { token } = await this.#operator.signIns.start({ id }, visitor);
    const browser = { ...owner, headers: { cookie: `gatepost_session=${token}`, ...SAME_SITE } };
    if (this.#chance.isTrue(0.5)) await this.#useKey(owner, browser);
    else await this.#look(owner, browser);
    // Others are signed in as well.
    if (this.#chance.isTrue(0.5)) return;
    const gone = await this.#ask(browser, "POST", "/account/sign-out", {});
    const after = await this.#ask(browser, "GET", "/account/keys");
    if (gone.status === 204 && after.status === 200)
      this.#front.wrong("a sign-out leaves the door open");
  }

  /** Others have signed in before, and stay. */
  async #others(id: string, visitor: { clientAddress: string; userAgent: string }): Promise<void> {
    if (this.#chance.isTrue(0.5)) return;
    const { store } = this.#front.world;
    for (const { id: other } of store.rows(`select id from accounts where id <> '${id}' limit 1`))
      await this.#operator.signIns.start({ id: String(other) }, visitor);
  }

  #ask(
    browser: Owner,
    method: "GET" | "POST" | "DELETE",
    url: string,
    body?: unknown,
  ): Promise<Reply> {
    return this.#front.ask(browser, { method, url }, body === undefined ? {} : { body });
  }

  /** A key works at once everywhere, and is refused 5 s after it was revoked. */
  async #useKey(owner: Owner, browser: Owner): Promise<void> {
    const before = owner.revocations;
    const made = await this.#ask(browser, "POST", "/account/keys", { name: "visit" });
    if (made.status === 0 || !this.#front.isCalm) return;
    if (made.status >= 300)
      return this.#front.wrong(`a key got ${String(made.status)} ${made.body}`);
    const { api_key: apiKey, id } = JSON.parse(made.body) as { api_key: string; id: string };
    const caller = { ...owner, headers: { authorization: `Bearer ${apiKey}` } };
    // The owner's other changes of keys may revoke it meanwhile.
    const isNewRefused = (await this.#check(owner, caller)) === 401 && owner.revocations === before;
    if (isNewRefused) this.#front.wrong("a new key is refused");
    const gone = await this.#ask(browser, "DELETE", `/account/keys/${id}`);
    if (gone.status !== 200 && gone.status !== 204) return;
    await this.#front.world.timeline.sleep(IN_FORCE_MS);
    const status = await this.#check(owner, caller);
    if (status === 200 && this.#front.isCalm)
      this.#front.wrong("a key revoked in the dashboard is served");
  }

  async #check(owner: Owner, caller: Owner): Promise<number> {
    const charged = chargedOn(owner, this.#front.today());
    charged.possible += 1;
    const order = { method: "POST", url: "/api/domain" } as const;
    const { status } = await this.#front.ask(caller, order, {
      body: { domain: "d1.live.test-zone.com" },
    });
    if (status === 401 || status === 429) this.#front.free(charged, 1);
    return status;
  }

  /** What an account sees is its own. */
  async #look(owner: Owner, browser: Owner): Promise<void> {
    const { status, body } = await this.#ask(browser, "GET", "/account/session");
    if (status !== 200) return;
    const { account } = JSON.parse(body) as { account?: { id: string } };
    const id = owner.key.slice("account:".length);
    if (account?.id !== id) this.#front.wrong("a visitor sees another account");
    const { store } = this.#front.world;
    const listed = await this.#ask(browser, "GET", "/account/keys");
    const others = store.rows(`select id from api_keys where account_id <> '${id}' limit 2`);
    for (const { id: other } of others) {
      if (listed.body.includes(String(other)))
        this.#front.wrong("a visitor sees another one's key");
      const gone = await this.#ask(browser, "DELETE", `/account/keys/${String(other)}`);
      if (gone.status === 204) this.#front.wrong("a visitor revokes another one's key");
    }
  }
}

const SAME_SITE = { origin: "http://gatepost.test" };

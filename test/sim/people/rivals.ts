import type { Chance } from "../chance.ts";
import type { Front } from "../front.ts";
import { chargedOn, type Owner } from "../ledger.ts";
import { BULK_MS, entriesOf, isOpen, largeCount, type Stats, wanted } from "./wanted.ts";
import type { Reply } from "../world.ts";

/** Who comes into the way of a batch: its own owner, and others. */
export class Rivals {
  readonly #front: Front;
  readonly #chance: Chance;

  constructor(front: Front, chance: Chance) {
    this.#front = front;
    this.#chance = chance;
  }

  /** Two owners may choose one key. */
  async sendAsOther(
    owner: Owner,
    asked: { readonly body: unknown; readonly key: string },
    of: Reply,
  ): Promise<void> {
    const other = this.#chance.pick(this.#front.owners.filter(({ key }) => key !== owner.key));
    const { session, unique } = JSON.parse(of.body) as Stats & { session: string };
    const charged = chargedOn(other, this.#front.today());
    charged.possible += unique;
    other.unknownJobs += 1;
    const order = { method: "POST", url: "/api/email" } as const;
    const reply = await this.#front.ask(other, order, asked, this.#front.patience(BULK_MS));
    if (isOpen(reply)) return;
    this.#front.mayBeBusy(other);
    if (reply.status === 429) {
      other.unknownJobs -= 1;
      this.#front.refused(other, { charged, units: unique }, reply);
    } else if (reply.status !== 200) this.#front.wrong(`a batch got ${String(reply.status)}`);
    else if (reply.body.includes(session)) this.#front.wrong("two owners have one session");
  }

  /** An owner has one job at a time. */
  async submitBeside(owner: Owner): Promise<void> {
    const entries = entriesOf(this.#chance, largeCount(this.#chance));
    const { unique } = wanted(entries, this.#front.world.names);
    const charged = chargedOn(owner, this.#front.today());
    charged.possible += unique;
    owner.unknownJobs += 1;
    const order = { method: "POST", url: "/api/email" } as const;
    const body = { bulk: true, email: entries };
    const reply = await this.#front.ask(owner, order, { body }, this.#front.patience(BULK_MS));
    this.countRunning(owner);
    if (reply.status !== 429) return;
    owner.unknownJobs -= 1;
    this.#front.refused(owner, { charged, units: unique }, reply);
  }

  countRunning({ key }: Owner): void {
    const rows = this.#front.world.store.rows(
      `select session from jobs where is_running = 1 and owner = '${key}'`,
    );
    if (rows.length > 1) this.#front.wrong("an owner has two jobs at once");
  }

  /** Nothing of one owner reaches another. */
  async peep({
    session,
    owner,
  }: {
    readonly session: string;
    readonly owner: Owner;
  }): Promise<void> {
    const other = this.#front.owners.find(({ key }) => key !== owner.key);
    if (other === undefined) return;
    const url = `/api/view/${session}`;
    const read = await this.#front.ask(other, { method: "GET", url: `${url}/json` });
    if (read.status === 200) this.#front.wrong("an owner reads another one's session");
    const gone = await this.#front.ask(other, { method: "DELETE", url });
    if (gone.status < 300 && gone.status > 0)
      this.#front.wrong("an owner deletes another's session");
  }
}

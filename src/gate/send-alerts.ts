import type { Accounts } from "../accounts/accounts-store.ts";
import type { End } from "../base/every.ts";
import { isoTime } from "../core/calendar.ts";
import { addRow, deleteRows } from "../store/rows.ts";
import type { WaveRow } from "../store/tables/policy.ts";
import type { Tx } from "../store/transaction.ts";
import type { AnnounceDeps } from "../webhooks/dispatcher.ts";
import { lookOften, tell } from "../webhooks/tell.ts";
import { type AccountHash, messagesMark, type TrafficOwner } from "./traffic-marks.ts";
import type { Traffic } from "./traffic.ts";
import { isWave, type NewMailboxes } from "./traffic-store.ts";

export interface SendAlertsDeps extends AnnounceDeps {
  readonly accounts: Pick<Accounts, "find">;
  readonly traffic: Pick<Traffic, "newMailboxes">;
  readonly hash: AccountHash;
  readonly counted: (state: Wave["state"]) => void;
}

/** Tells once, of all servers, when far more messages than usual go to mailboxes that an account never sent to. */
export class SendAlerts {
  readonly #deps: SendAlertsDeps;
  #noted = new Set<string>();

  constructor(deps: SendAlertsDeps) {
    this.#deps = deps;
  }

  start(): End {
    return lookOften(this.#deps, "gate.waves_failed", () => this.look());
  }

  noticed(owner: TrafficOwner): void {
    if (this.#noted.has(owner.accountId)) return;
    this.#noted.add(owner.accountId);
    this.#begin(owner).catch((fault: unknown) => {
      this.#noted.delete(owner.accountId);
      this.#deps.log.error("gate.waves_failed", fault);
    });
  }

  async look(): Promise<void> {
    this.#noted = new Set();
    const { db, accounts } = this.#deps;
    const open = await db.selectFrom("waves").selectAll().where("ended_ms", "is", null).execute();
    for (const wave of open) {
      const { trafficSince: since = 0 } = (await accounts.find(wave.account_id)) ?? {};
      const owner = { accountId: wave.account_id, since, isPage: false };
      const now = since > 0 ? await this.#figures(owner) : { messages: 0, usual: 0 };
      if (now !== undefined && !isWave(now)) await this.#end(wave);
    }
  }

  #figures(owner: TrafficOwner): Promise<NewMailboxes | undefined> {
    const { traffic, hash } = this.#deps;
    return traffic.newMailboxes(owner, messagesMark(hash, owner));
  }

  async #begin(owner: TrafficOwner): Promise<void> {
    const figures = await this.#figures(owner);
    if (figures === undefined) return;
    const began_ms = this.#deps.clock.nowMs();
    const row: WaveRow = { account_id: owner.accountId, began_ms, ended_ms: null, ...figures };
    await this.#tell(row, ({ sql }) => addRow(sql, "waves", row));
  }

  #end(wave: WaveRow): Promise<void> {
    const { account_id, began_ms } = wave;
    const isMine = async ({ sql }: Tx): Promise<boolean> =>
      (await deleteRows(sql, "waves", { account_id, began_ms, ended_ms: null })) === 1;
    return this.#tell(wave, isMine, this.#deps.clock.nowMs());
  }

  async #tell(row: WaveRow, note: (tx: Tx) => Promise<boolean>, endedMs?: number): Promise<void> {
    const { log, counted } = this.#deps;
    const wave = waveOf(row, endedMs);
    const news = { accountId: row.account_id, event: "gate.wave", data: wave } as const;
    if (!(await tell(this.#deps, async (tx) => ((await note(tx)) ? [news] : [])))) return;
    counted(wave.state);
    log.warn("gate.wave", { account: row.account_id, ...wave });
  }
}

type Wave = ReturnType<typeof waveOf>;

const waveOf = ({ began_ms, messages, usual }: WaveRow, endedMs?: number) => ({
  state: endedMs === undefined ? ("began" as const) : ("ended" as const),
  began_at: isoTime(Number(began_ms)),
  ended_at: endedMs === undefined ? null : isoTime(endedMs),
  messages: Number(messages),
  usual: Number(usual),
});

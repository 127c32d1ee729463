import type { Kysely } from "kysely";
import type { OwnSpellings, SpellingSighting } from "./own-spellings-types.ts";
import { pruneRows } from "../store/prune-rows.ts";
import { lockAccount } from "../store/row-locks.ts";
import type { Database } from "../store/schema.ts";
import type { OwnSpellingRow } from "../store/tables/own-traffic.ts";
import { inTransaction, type Tx } from "../store/transaction.ts";

/** Mailboxes of one query: always this number or one, because the database caches a statement for each text. */
const GROUP = 100;

const sighting = ({ account_id: accountId, ...row }: OwnSpellingRow): SpellingSighting => ({
  accountId,
  ...row,
});

/** Full groups of `GROUP`, the last one filled up with what it holds already; a single one stays alone. */
function groupsOf(mailboxes: readonly string[]): readonly (readonly string[])[] {
  if (mailboxes.length <= 1) return mailboxes.length === 0 ? [] : [mailboxes];
  const groups: string[][] = [];
  for (let from = 0; from < mailboxes.length; from += GROUP) {
    const group = mailboxes.slice(from, from + GROUP);
    groups.push([...group, ...Array<string>(GROUP - group.length).fill(group[0] ?? "")]);
  }
  return groups;
}

/** How many more spellings the account may have; 0 when its traffic is not counted. */
async function roomOf(tx: Tx, accountId: string, rowsMax: number): Promise<number> {
  const { sql } = tx;
  // Switching counting off waits for this transaction, and then deletes its rows too.
  await lockAccount(tx, accountId);
  const account = await sql
    .selectFrom("accounts")
    .select("spellings")
    .where("id", "=", accountId)
    .executeTakeFirst();
  if (account?.spellings !== 1) return 0;
  const { rows } = await sql
    .selectFrom("own_spellings")
    .select((build) => build.fn.countAll().as("rows"))
    .where("account_id", "=", accountId)
    .executeTakeFirstOrThrow();
  return rowsMax - Number(rows);
}

/** False when the account has no such row yet. */
async function seenAgain({ sql }: Tx, seen: SpellingSighting): Promise<boolean> {
  const { numUpdatedRows } = await sql
    .updateTable("own_spellings")
    .set((build) => ({
      day: build.case().when("day", "<", seen.day).then(seen.day).else(build.ref("day")).end(),
    }))
    .where("account_id", "=", seen.accountId)
    .where("mailbox", "=", seen.mailbox)
    .where("spelling", "=", seen.spelling)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

const keyOf = ({ accountId, mailbox, spelling }: SpellingSighting): string =>
  `${accountId} ${mailbox} ${spelling}`;

async function addIn(
  tx: Tx,
  sightings: readonly SpellingSighting[],
  rowsMax: number,
): Promise<void> {
  const rooms = new Map<string, number>();
  // In order, so that no two processes wait for each other's rows.
  for (const seen of sightings.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))) {
    const { accountId, ...row } = seen;
    const room = rooms.get(accountId) ?? (await roomOf(tx, accountId, rowsMax));
    rooms.set(accountId, room);
    if ((await seenAgain(tx, seen)) || room <= 0) continue;
    await tx.sql
      .insertInto("own_spellings")
      .values({ account_id: accountId, ...row })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    rooms.set(accountId, room - 1);
  }
}

const PRUNED = {
  table: "own_spellings",
  key: ["account_id", "mailbox", "spelling"],
  column: "day",
} as const;

export function sqlOwnSpellings(db: Kysely<Database>): OwnSpellings {
  return {
    async ofMailboxes(accountId, mailboxes, fromDay) {
      const found: SpellingSighting[] = [];
      for (const group of groupsOf(mailboxes)) {
        const rows = await db
          .selectFrom("own_spellings")
          .selectAll()
          .where("account_id", "=", accountId)
          .where("mailbox", "in", group)
          .where("day", ">=", fromDay)
          .execute();
        found.push(...rows.map(sighting));
      }
      return found;
    },
    add: (sightings, rowsMax) => inTransaction(db, (tx) => addIn(tx, sightings, rowsMax)),
    async forget(accountId) {
      await db.deleteFrom("own_spellings").where("account_id", "=", accountId).execute();
    },
    prune: (fromDay) => pruneRows(db, { ...PRUNED, before: fromDay }),
  };
}

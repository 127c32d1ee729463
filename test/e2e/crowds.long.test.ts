// The replays of crowds by the real program, on one server and on two, with a kill in the middle: farms among honest people.
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { sql } from "kysely";
import { honestPeople } from "../policy/crowd-names.ts";
import { mailZone, missingServices } from "../scaled/scaled-world.ts";
import { until } from "../time/until.ts";
import {
  type Ask,
  HOUR_MS,
  LATE_MS,
  type Replay,
  type Replayed,
  replayOnOne,
  replayOnTwo,
  says,
  type Said,
  together,
} from "./replays.ts";

const ZONE = mailZone(["gmail.com", "outlook.com", "young.example"], 0);

const LAUNCH = 2_000;
/** From this number on an asker asks for honest people, below it for a farm. */
const HONEST = 10_000;
const PEOPLE = honestPeople(LAUNCH + 2_000, 5);
const honest = (at: number): string => PEOPLE[at - HONEST] ?? assert.fail();
/** Named as anybody is: nothing but who asks tells that these are one. */
const stranger = (at: number): string => PEOPLE[LAUNCH + at] ?? assert.fail();

/** Everybody is in a network of their own. */
const home = (at: number): string => `198.${String(at >> 8)}.${String(at & 255)}.7`;
const by = (names: Readonly<Record<string, string>>) => ({ count_by: JSON.stringify(names) });

/** Moves what was counted by keys three hours back, and says it of so many more mailboxes each. */
const earlier =
  (...timesMore: readonly [number, number]): NonNullable<Replay["meanwhile"]> =>
  async (db, accountId, part) => {
    const [more, backMs] = [timesMore[part], 3 * HOUR_MS];
    const own = sql`kind = 'source' and account_id = ${accountId}`;
    await sql`update traffic set first_ms = first_ms - ${backMs}, last_ms = last_ms - ${backMs} where ${own}`.execute(
      db,
    );
    if (more === 0) return;
    await sql`
      with recursive copies(n) as (select 1 union all select n + 1 from copies where n < ${sql.lit(more)})
      insert into traffic (account_id, subject, kind, item, first_ms, last_ms, count)
      select account_id, subject, kind, item || '.' || n, first_ms, last_ms, count from traffic, copies
      where ${own} and subject in (select subject from traffic where ${own} group by subject having count(*) > 1)`.execute(
      db,
    );
  };

/** All but one in 200 of them, and nobody is refused. */
async function mostly(asked: Promise<Said>): Promise<void> {
  const { "accept ok": accepted = 0, "review burst": reviewed = 0, ...others } = await asked;
  assert.deepEqual(others, {});
  assert.ok(reviewed <= (accepted + reviewed) / 200, `${String(reviewed)} of ${String(accepted)}`);
}

const ADDRESSES = 94;
const INVITER = "u_12";
const YOUNG = 1_000;
const SPELLINGS = 2_000;
const FEW_OF_FOUR_DIGITS = PEOPLE.filter((email) => !/^[a-z]+\d{4}@/.test(email));

const REPLAYS = {
  "an honest launch of 2,000, and three farms among them": {
    email(at) {
      if (at >= HONEST) return honest(at);
      if (at >= SPELLINGS) return `one.person+${String(at)}@gmail.com`;
      return at >= YOUNG ? `farm${String(at)}.x@young.example` : stranger(at);
    },
    more: (at) => by({ ip: at < YOUNG ? "203.0.113.9" : home(at) }),
    meanwhile: earlier(0, 0),
    parts: [
      async (ask) => {
        await says(ask(0, YOUNG, 4), "accept ok");
        await says(ask(0, SPELLINGS, 3), "accept ok");
        await says(ask(0, 0, 20), "accept ok");
        await mostly(together([ask(0, HONEST, 350), ask(1, HONEST + 350, 350)]));
      },
      async (ask) => {
        await says(ask(1, YOUNG + 4, 28), "review burst");
        await says(ask(1, SPELLINGS + 3, 17), "review repeated_mailbox");
        await says(ask(1, 20, 20), "accept ok");
        await mostly(together([ask(0, HONEST + 700, 300), ask(1, HONEST + 1_000, 300)]));
      },
      async (ask) => {
        await says(ask(0, YOUNG + 32, 28), "review burst");
        await says(ask(0, SPELLINGS + 20, 20), "review repeated_mailbox");
        await says(ask(0, 40, 20), "accept ok");
        await pause(LATE_MS);
        await says(ask(1, 60, 20), "review many"); // not slowly any more
        await mostly(together([ask(0, HONEST + 1_300, 350), ask(1, HONEST + 1_650, 350)]));
      },
    ],
  },
  "94 addresses with 120 sign-ups each among 300 honest ones: review from the 101st on": {
    email: (at) => (at >= HONEST ? honest(at) : stranger(at)),
    more: (at) => by({ ip: at >= HONEST ? home(at) : `203.0.${String(at % ADDRESSES)}.7` }),
    meanwhile: earlier(23, 0), // four of each address become 96 of its day
    parts: [
      (ask) => amongHonest(ask, 0, 4, "accept ok"),
      (ask) => amongHonest(ask, 4, 4, "accept ok"),
      (ask) => amongHonest(ask, 8, 4, "review many"),
    ],
  },
  "an inviter with 500 strangers: 20 go out in ten minutes, 100 in a day": {
    email: stranger,
    more: () => ({ for: "invite", confirmed: "true", ...by({ inviter: INVITER }) }),
    meanwhile: earlier(3, 0),
    parts: [
      async (ask) => {
        await says(ask(0, 0, 20), "accept ok");
        await says(ask(0, 20, 60), "reject many");
      },
      async (ask) => {
        await says(ask(1, 80, 20), "accept ok");
        await says(ask(1, 100, 60), "reject many");
      },
      async (ask) => {
        await says(ask(0, 160, 170), "reject many");
        await says(ask(1, 330, 170), "reject many");
      },
    ],
  },
  "60 times a name and four digits among 40 honest ones: review from the 31st on": {
    email: (at) =>
      at >= HONEST
        ? (FEW_OF_FOUR_DIGITS[at - HONEST] ?? assert.fail())
        : `jo${"abcdefghij".slice(at % 10)}${String(1_000 + at)}@gmail.com`,
    more: () => ({}),
    parts: [
      async (ask) => {
        await says(ask(0, HONEST, 13), "accept ok");
        await says(ask(0, 0, 15), "accept ok");
      },
      async (ask) => {
        await says(ask(1, HONEST + 13, 13), "accept ok");
        await ask(1, 15, 15);
      },
      async (ask) => {
        await says(ask(0, 30, 15), "review burst");
        await says(ask(0, HONEST + 26, 14), "accept ok");
        await says(ask(1, 45, 15), "review burst");
      },
    ],
  },
  "a meetup of 60 behind one address in a day: accepted": {
    email: stranger,
    more: () => by({ ip: "203.0.113.9" }),
    meanwhile: earlier(0, 0),
    parts: [
      (ask) => says(ask(0, 0, 20), "accept ok"),
      (ask) => says(ask(1, 20, 20), "accept ok"),
      (ask) => says(ask(0, 40, 20), "accept ok"),
    ],
  },
} as const satisfies Readonly<Record<string, Replay>>;

/** So many of each address at one server, and a third of the honest ones at the other. */
async function amongHonest(ask: Ask, from: number, count: number, want: string): Promise<void> {
  const people = ask(1, HONEST + from * 25, 100);
  await says(ask(0, from * ADDRESSES, count * ADDRESSES), want);
  await says(people, "accept ok");
}

interface Group {
  readonly value: string;
  readonly count: number;
  readonly mailboxes: number;
  readonly decided: Readonly<Record<string, number>>;
}

/** Whoever reads the log sees all three, the slow one of one network as well, of which no rule tells. */
async function assertFound({ url, accounts }: Replayed): Promise<void> {
  const headers = { "x-api-key": accounts[0]?.key ?? "" };
  await until(
    async () => {
      const reply = await fetch(`${url}/api/decisions?groups=1`, { headers });
      assert.equal(reply.status, 200);
      const read = (await reply.json()) as {
        readonly groups: Readonly<Record<"domains" | "mailboxes" | "sources", readonly Group[]>>;
      };
      const { domains, mailboxes, sources } = read.groups;
      const found = [
        domains.find(({ value }) => value === "young.example"),
        mailboxes[0],
        sources[0],
      ];
      const seen = found.map((group) => [group?.mailboxes, group?.decided["review"]]);
      return isDeepStrictEqual(seen, [[60, 56], [1, 37], [80, 20]]) || undefined; // prettier-ignore
    },
    { what: "the groups of the three farms" },
  );
}

test("crowds on one server that is killed", async () => {
  await replayOnOne(REPLAYS, { zone: ZONE, hasLog: true }, assertFound);
});

test(
  "crowds on two servers of one store, of which one is killed",
  { skip: missingServices().length > 0 },
  async () => {
    await replayOnTwo(REPLAYS, { zone: ZONE, hasLog: true }, assertFound);
  },
);

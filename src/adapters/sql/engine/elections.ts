import type { Kysely } from "kysely";
import { CLOCKS_APART_MS, type Elections } from "../../../ports/process/elections.ts";
import type { Database } from "./schema.ts";

/** Elections in one table: a duty is taken in one statement, so of many candidates one gets it. */
export function sqlElections(db: Kysely<Database>): Elections {
  return {
    async hold(duty, candidate, { nowMs, leaseMs }) {
      const until_ms = nowMs + leaseMs + CLOCKS_APART_MS;
      const held = await db
        .insertInto("elections")
        .values({ duty, candidate, until_ms, term: 1 })
        .onConflict((conflict) =>
          conflict
            .column("duty")
            .doUpdateSet((build) => ({
              candidate,
              until_ms,
              term: build
                .case()
                .when("elections.candidate", "=", candidate)
                .then(build.ref("elections.term"))
                .else(build("elections.term", "+", 1))
                .end(),
            }))
            .where((build) =>
              build.or([
                build("elections.candidate", "=", candidate),
                build("elections.until_ms", "<=", nowMs),
              ]),
            ),
        )
        .returning("duty")
        .executeTakeFirst();
      return held !== undefined;
    },
    async resign(duty, candidate) {
      await db
        .updateTable("elections")
        .set({ until_ms: 0 })
        .where("duty", "=", duty)
        .where("candidate", "=", candidate)
        .execute();
    },
  };
}

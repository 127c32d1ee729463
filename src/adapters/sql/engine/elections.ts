import type { Kysely } from "kysely";
import { CLOCKS_APART_MS, type Elections } from "../../../ports/process/elections.ts";
import type { Database } from "./schema.ts";

/** Built once: every process asks every 5 s for each duty. Its parameters: the row, the step of the term, now. */
const statement = (db: Kysely<Database>) =>
  db
    .insertInto("elections")
    .values({ duty: "", candidate: "", until_ms: 0, term: 1 })
    .onConflict((conflict) =>
      conflict
        .column("duty")
        .doUpdateSet((build) => ({
          candidate: build.ref("excluded.candidate"),
          until_ms: build.ref("excluded.until_ms"),
          term: build
            .case()
            .when("elections.candidate", "=", build.ref("excluded.candidate"))
            .then(build.ref("elections.term"))
            .else(build("elections.term", "+", 1))
            .end(),
        }))
        .where((build) =>
          build.or([
            build("elections.candidate", "=", build.ref("excluded.candidate")),
            build("elections.until_ms", "<=", 0),
          ]),
        ),
    )
    .returning("duty")
    .compile();

/** Elections in one table: a duty is taken in one statement, so of many candidates one gets it. */
export function sqlElections(db: Kysely<Database>): Elections {
  const holding = statement(db);
  return {
    async hold(duty, candidate, { nowMs, leaseMs }) {
      const parameters = [duty, candidate, nowMs + leaseMs + CLOCKS_APART_MS, 1, 1, nowMs];
      const { rows } = await db.executeQuery({ ...holding, parameters });
      return rows.length > 0;
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

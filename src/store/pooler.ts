import type { ClientConfig } from "pg";
import type { Driver } from "./postgres-pool.ts";

const MARK = "gatepost.mark";
const ROUNDS = 3;

/**
 * Whether a pooler lends one session of the server to several clients, as PgBouncer does in the modes "transaction" and
 * "statement": a setting that one client made is then seen by another. Rejects when the server does not answer.
 */
export async function lendsSessions({ Client }: Driver, config: ClientConfig): Promise<boolean> {
  const [one, other] = [new Client(config), new Client(config)];
  for (const client of [one, other]) client.on("error", () => undefined);
  const marked = async (client: typeof one): Promise<boolean> => {
    const { rows } = await client.query<{ mark: string | null }>(
      "select current_setting($1, true) as mark",
      [MARK],
    );
    return (rows[0]?.mark ?? "") !== "";
  };
  try {
    await Promise.all([one.connect(), other.connect()]);
    for (let round = 0; round < ROUNDS; round += 1) {
      await one.query("select set_config($1, 'set', false)", [MARK]);
      // A transaction keeps the session that it was lent, so that the first client is lent another one.
      await other.query("begin");
      if ((await marked(other)) || !(await marked(one))) return true;
      await other.query("rollback");
    }
    return false;
  } catch (error) {
    if (error instanceof Error && /transaction blocks not allowed/.test(error.message)) return true;
    throw error;
  } finally {
    await Promise.allSettled([one.end(), other.end()]);
  }
}

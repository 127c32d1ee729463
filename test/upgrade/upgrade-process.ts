// Upgrades the database in argument 2, an URL or a data directory, by a step that hangs (argument 3) or ends. It says what it does.
import { openEmbedded } from "../../src/store/database.ts";
import { type Migration, MIGRATIONS } from "../../src/store/migrations.ts";
import { openPostgres } from "../../src/store/postgres-database.ts";
import { realClock as clock } from "../time/real-clock.ts";

const [, , place = "", how] = process.argv;
const say = (word: string): void => void process.stdout.write(`${word}\n`);

const later: Migration = {
  name: "9999-later",
  sql: "create table later (id text primary key);\n",
  async code({ sql }) {
    await sql.deleteFrom("audit_entries").execute();
    if (how !== "hangs") return;
    say("hangs");
    await new Promise((resolve) => setTimeout(resolve, 600_000));
  },
};

const log = { info: say, warn: say };
const upgrading = { migrations: [...MIGRATIONS, later], told: { log, clock } };
const opened = place.startsWith("postgres:")
  ? await openPostgres(place, Date.now(), { upgrading })
  : await openEmbedded(place, Date.now(), { upgrading, busyTimeoutMs: 50 });
await opened.close();
say("open");

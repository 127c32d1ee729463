import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { makeHome, startService } from "../../e2e/service-process.ts";
import { testWith } from "../../process/require-tool.ts";
import { postgresPrograms, startPostgres } from "../../services/postgres.ts";

/** Hangs up on the first caller of this port, which is free again then. */
async function untilCalled(port: number): Promise<void> {
  const server = createServer();
  server.listen(port, "127.0.0.1");
  const [socket] = (await once(server, "connection")) as [Socket];
  socket.destroy();
  server.close();
  await once(server, "close");
}

const missing = postgresPrograms() === undefined ? ["postgresql"] : [];

testWith(
  ["postgresql"],
  missing,
  "a server that is started before its PostgreSQL waits for it with one line in the log",
  async () => {
    const postgres = await startPostgres();
    const databaseUrl = await postgres.createDatabase();
    await postgres.stop("fast");
    const home = makeHome({
      DATABASE_URL: databaseUrl,
      GATEPOST_SECRET_KEY: Buffer.alloc(32, 7).toString("base64"),
    });
    const starting = startService(home);
    await untilCalled(postgres.port);
    await postgres.start();
    const service = await starting;
    await service.stop();
    home.remove();
    await postgres.close();
    assert.equal(service.log().match(/start\.waiting_for_database/g)?.length, 1);
  },
);

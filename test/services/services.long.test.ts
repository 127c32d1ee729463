import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { test } from "node:test";
import pg from "pg";
import { testWith } from "../process/require-tool.ts";
import { openCutLine } from "./cut-line.ts";
import { postgresPrograms, startPostgres } from "./postgres.ts";

const withoutPostgres = postgresPrograms() === undefined ? ["postgresql"] : [];

testWith(
  ["postgresql"],
  withoutPostgres,
  "a private PostgreSQL keeps its rows through a kill",
  async () => {
    const server = await startPostgres();
    try {
      const connectionString = await server.createDatabase();
      const ask = async (sql: string): Promise<unknown[]> => {
        const client = new pg.Client({ connectionString });
        client.on("error", () => undefined);
        await client.connect();
        const { rows } = await client.query<Record<string, unknown>>(sql);
        await client.end();
        return rows;
      };
      await ask("create table kept (n integer); insert into kept values (7)");
      await server.stop("kill");
      await assert.rejects(ask("select 1"));
      await server.start();
      assert.deepEqual(await ask("select n from kept"), [{ n: 7 }]);
    } finally {
      await server.close();
    }
  },
);

test("a frozen line lets nothing pass until it is restored", async () => {
  const echo = createServer((socket) => socket.on("error", () => undefined).pipe(socket)).listen(
    0,
    "127.0.0.1",
  );
  await once(echo, "listening");
  const line = await openCutLine((echo.address() as { port: number }).port);
  try {
    const socket = connect(line.port, "127.0.0.1");
    socket.write("one");
    assert.equal(String((await once(socket, "data"))[0]), "one");
    line.freeze();
    socket.write("two");
    let heard = "";
    socket.on("data", (data: Buffer) => void (heard += data.toString()));
    // A second line to the same server proves that enough time passed.
    const beside = connect((echo.address() as { port: number }).port, "127.0.0.1");
    for (let turn = 0; turn < 20; turn += 1) {
      beside.write("x");
      await once(beside, "data");
    }
    assert.equal(heard, "");
    await line.mend();
    await once(socket, "data");
    assert.equal(heard, "two");
    for (const one of [socket, beside]) one.on("error", () => undefined).destroy();
  } finally {
    await line.close();
    echo.close();
  }
});

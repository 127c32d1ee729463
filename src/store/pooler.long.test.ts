// PgBouncer as Debian has it, in front of a PostgreSQL.
import assert from "node:assert/strict";
import { chownSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { hasTool, testWith } from "../../test/process/require-tool.ts";
import { type Child, startChild } from "../../test/services/child.ts";
import { freePort } from "../../test/services/free-port.ts";
import { PATIENT, withPostgres } from "../../test/services/with-postgres.ts";
import { until } from "../../test/time/until.ts";
import { DatabaseFault } from "./database-fault.ts";
import { isPooled, openPostgres } from "./postgres-database.ts";

const NOW_MS = Date.UTC(2026, 10, 20, 12);
const missing = hasTool("pgbouncer") ? [] : ["pgbouncer"];
const children: Child[] = [];
after(() => Promise.all(children.map((child) => child.end("SIGINT"))));

/** It refuses to run as root. */
function plainUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const [, uid = "", gid = ""] =
    /^postgres:[^:]*:(\d+):(\d+):/m.exec(readFileSync("/etc/passwd", "utf8")) ?? [];
  return { uid: Number(uid), gid: Number(gid) };
}

/** The same database behind a pooler. */
async function pooled(url: string, settings: readonly string[]): Promise<string> {
  const { hostname, port, pathname, username } = new URL(url);
  const folder = mkdtempSync(join(tmpdir(), "gatepost-pgbouncer-"));
  const user = plainUser();
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  const own = await freePort();
  const file = join(folder, "pgbouncer.ini");
  const lines = [
    "[databases]",
    `* = host=${hostname} port=${port}`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${String(own)}`,
    "unix_socket_dir =",
    "auth_type = any",
    ...settings,
  ];
  // "any" asks for the user of the server.
  lines[1] += ` user=${username}`;
  writeFileSync(file, `${lines.join("\n")}\n`);
  children.push(startChild("pgbouncer", [file], { cwd: folder, ...user }));
  const behind = `postgres://${username}@127.0.0.1:${String(own)}${pathname}`;
  await until(
    () =>
      isPooled(behind).then(
        () => true,
        (fault: unknown) => !/ECONNREFUSED/.test(String(fault)),
      ),
    {
      everyMs: 50,
    },
  );
  return behind;
}

const TAKES_OPTIONS =
  "ignore_startup_parameters = options,statement_timeout,lock_timeout,idle_in_transaction_session_timeout";

const poolers: readonly (readonly [
  mode: string,
  settings: readonly string[],
  says: RegExp | undefined,
])[] = [
  ["session", [TAKES_OPTIONS], undefined],
  ["transaction", [TAKES_OPTIONS], /a connection pooler in transaction mode is between/],
  ["statement", [TAKES_OPTIONS], /a connection pooler (?:in transaction mode )?is between/],
  ["transaction", [], /a connection pooler is between that takes no settings.*\(unsupported/],
];

if (missing.length > 0) testWith(["pgbouncer"], missing, "PgBouncer", () => Promise.resolve());
else
  withPostgres("PgBouncer", ({ database }) => {
    for (const [mode, settings, says] of poolers) {
      testWith(
        ["pgbouncer"],
        missing,
        `behind PgBouncer in ${mode} mode${settings.length === 0 ? " as it is shipped" : ""} a server ${says === undefined ? "starts" : "says so and stops"}`,
        async () => {
          const url = await pooled(await database(), [`pool_mode = ${mode}`, ...settings]);
          const start = async (): Promise<void> => {
            const opened = await openPostgres(url, NOW_MS, PATIENT);
            try {
              await opened.requireOwnSessions();
            } finally {
              await opened.close();
            }
          };
          const starting = start();
          if (says === undefined) await starting;
          else {
            await assert.rejects(starting, says);
            await assert.rejects(
              starting,
              (fault) => fault instanceof DatabaseFault && fault.code === "unusable",
            );
          }
        },
      );
    }
  });

// Preloaded into a server or worker under test (`--import`). It ends the process at its nth statement in the store, says
// how much of the write-ahead log is certainly on the disk, and leads the receiver's public address to loopback.
import { appendFileSync, openSync, readFileSync, readSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";
import { isMainThread } from "node:worker_threads";
import { type CompiledQuery, PostgresDriver, SqliteDriver } from "kysely";
import { type Fate, type Order, RECEIVER_ADDRESS } from "./fate.ts";

const fate = process.env as unknown as Fate;
let left = Infinity;
let isAfter = false;

function takeOrder(): void {
  const order = JSON.parse(readFileSync(fate.KILL_ORDER, "utf8")) as Order;
  if ((order.thread === "main") !== isMainThread) return;
  left = order.count;
  isAfter = order.when === "after";
}

if (isMainThread) {
  process.on("SIGUSR2", takeOrder);
  // A write beyond the largest file that is allowed is a fault of that write then, and not the end.
  process.on("SIGXFSZ", () => undefined);
} else takeOrder();

const die = (): void => void process.kill(process.pid, "SIGKILL");

interface Connection {
  executeQuery: (this: unknown, query: CompiledQuery) => Promise<unknown>;
}

/** Counts the statements of every connection of the class that `connection` is of. */
function count(connection: object): void {
  const prototype = Object.getPrototypeOf(connection) as Connection;
  const { executeQuery } = prototype;
  prototype.executeQuery = function (query) {
    left -= 1;
    if (left === 0 && !isAfter) die();
    const result = executeQuery.call(this, query);
    if (left === 0) die();
    if (fate.KILL_DATABASE !== undefined) afterStatement(query.sql);
    return result;
  };
}

const transaction = { isOpen: false, isQuick: false };

/** Notes what the log holds when the statement was a commit that waits for the disk. */
function afterStatement(sql: string): void {
  const level = /^pragma synchronous = (\w+)/.exec(sql)?.[1];
  if (level !== undefined) transaction.isQuick = level === "normal";
  if (sql.startsWith("begin")) transaction.isOpen = true;
  const isEnd = sql === "commit" || sql === "rollback";
  if (isEnd) transaction.isOpen = false;
  const isWrite = sql === "commit" || /^(?:insert|update|delete|with) /.test(sql);
  if (isWrite && !transaction.isOpen && !transaction.isQuick) noteSynced();
}

/**
 * The log's place by the header of SQLite's shared index. The file is opened once, by the main thread, and never
 * closed: that would end the locks that SQLite has on it in this process.
 */
function noteSynced(): void {
  if (isMainThread)
    process.env["KILL_INDEX"] ??= String(openSync(`${fate.KILL_DATABASE ?? ""}-shm`, "r"));
  const header = Buffer.alloc(48);
  readSync(Number(process.env["KILL_INDEX"]), header, 0, 48, 0);
  const salt = header.toString("hex", 32, 40);
  appendFileSync(fate.KILL_SYNCED ?? "", `${salt} ${String(header.readUInt32LE(16))}\n`);
}

const nothing = { query: () => undefined, release: () => undefined };
const drivers = [
  new SqliteDriver({ database: {} as never }),
  new PostgresDriver({ pool: { connect: () => Promise.resolve(nothing) } as never }),
];
for (const driver of drivers) {
  await driver.init();
  count(await driver.acquireConnection());
}

const { connect } = net;
const toLoopback = (options: net.TcpNetConnectOpts): net.Socket =>
  options.host === RECEIVER_ADDRESS
    ? connect(Number(fate.KILL_RECEIVER_PORT), "127.0.0.1")
    : connect(options);
Object.assign(net, { connect: toLoopback });
syncBuiltinESMExports();

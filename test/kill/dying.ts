// Preloaded into a server or worker under test (`--import`). It ends the process at its nth statement in the store, says
// how much of the write-ahead log is certainly on the disk, and leads the receiver's public address to loopback.
import fs, { appendFileSync, openSync, readFileSync, readSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { isMainThread } from "node:worker_threads";
import pg from "pg";
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

type Method = (this: object, ...given: unknown[]) => unknown;

/** Counts each call of a method as a statement. */
function count(on: object, name: "query" | "all" | "run"): void {
  const own = Reflect.get(on, name) as Method;
  const value: Method = function (...given) {
    left -= 1;
    if (left === 0 && !isAfter) die();
    const result = own.apply(this, given);
    if (left === 0) die();
    return result;
  };
  Object.defineProperty(on, name, { value });
}

/** Counts the statements of SQLite: from Node's own module, or from the package with the same class. */
async function countSqlite(): Promise<void> {
  const { engineName } = await import("../../src/store/embedded/sqlite.ts");
  const { DatabaseSync } = (await import(engineName)) as {
    DatabaseSync: { prototype: DatabaseSync };
  };
  const { prototype } = DatabaseSync;
  const own = Reflect.get(prototype, "prepare") as Method;
  const value = function (this: DatabaseSync, sql: string): StatementSync {
    const statement = own.call(this, sql) as StatementSync;
    count(statement, "all");
    count(statement, "run");
    return statement;
  };
  // The package's methods cannot be replaced, but the prototype of what it makes can; with Node's it is the other way round.
  if (Object.getOwnPropertyDescriptor(DatabaseSync, "prototype")?.writable === true) {
    DatabaseSync.prototype = Object.create(prototype, { prepare: { value } }) as DatabaseSync;
  } else prototype.prepare = value;
}

const { fdatasync } = fs;
type Done = (error: NodeJS.ErrnoException | null) => void;

/** Notes what the log held when a sync of it began, once the disk has it. */
function noteSyncs(): void {
  fs.fdatasync = ((descriptor: number, done: Done) => {
    const synced = logNow();
    fdatasync(descriptor, (error) => {
      if (error === null) appendFileSync(fate.KILL_SYNCED ?? "", synced);
      done(error);
    });
  }) as typeof fdatasync;
  syncBuiltinESMExports();
}

/** The log's place by the header of SQLite's shared index, which is never closed: that would end SQLite's locks on it. */
function logNow(): string {
  process.env["KILL_INDEX"] ??= String(openSync(`${fate.KILL_DATABASE ?? ""}-shm`, "r"));
  const header = Buffer.alloc(48);
  readSync(Number(process.env["KILL_INDEX"]), header, 0, 48, 0);
  return `${header.toString("hex", 32, 40)} ${String(header.readUInt32LE(16))}\n`;
}

// Both packages stay apart when the program's modules are joined: the program has the same classes.
if (fate.KILL_DATABASE === undefined) count(pg.Client.prototype, "query");
else {
  await countSqlite();
  noteSyncs();
}

const { connect } = net;
const toLoopback = (options: net.TcpNetConnectOpts): net.Socket =>
  options.host === RECEIVER_ADDRESS
    ? connect(Number(fate.KILL_RECEIVER_PORT), "127.0.0.1")
    : connect(options);
Object.assign(net, { connect: toLoopback });
syncBuiltinESMExports();

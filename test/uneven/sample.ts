// Input of one process from outside, printed as one JSON text: uneven.long.test.ts starts it in uneven time.
import { fork } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer as createHttp } from "node:http";
import { type AddressInfo, connect, createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { until } from "../time/until.ts";

const COUNT = 30;
const numbers = Array.from({ length: COUNT }, (_, index) => index);

export interface Sample {
  /** What each connection sent before it was closed. */
  readonly texts: readonly string[];
  /** Connections in the order of their first data, and datagrams. */
  readonly connections: readonly number[];
  readonly datagrams: readonly number[];
  /** Of a thread and a child that sent a message and ended. */
  readonly thread: readonly number[];
  readonly child: readonly number[];
  readonly ends: readonly number[];
  readonly uploads: readonly number[];
}

async function byTcp(): Promise<Pick<Sample, "texts" | "connections">> {
  const texts: string[] = numbers.map(() => "");
  const connections: number[] = [];
  let ended = 0;
  const server = createServer((line) => {
    let text = "";
    line.on("data", (data) => {
      if (text === "") connections.push(Number(data.toString("latin1", 0, 2)));
      text += data.toString();
    });
    line.on("close", () => {
      texts[Number(text.slice(0, 2))] = text;
      ended += 1;
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  for (const number of numbers) {
    const line = connect((server.address() as AddressInfo).port, "127.0.0.1", () => {
      for (const word of [String(number).padStart(2, "0"), " a", " b", " c"]) line.write(word);
      line.destroy();
    });
  }
  await until(() => ended === COUNT, { what: "the end of every connection" });
  server.close();
  return { texts, connections };
}

async function byUdp(): Promise<readonly number[]> {
  const heard: number[] = [];
  const socket = createSocket("udp4", (data) => heard.push(data[0] ?? -1));
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  for (const number of numbers) {
    socket.send(new Uint8Array([number]), socket.address().port, "127.0.0.1");
  }
  await until(() => heard.length === COUNT, { what: "every datagram" });
  socket.close();
  return heard;
}

const THREAD = `
  const { parentPort } = require("node:worker_threads");
  parentPort.on("message", (number) => {
    parentPort.postMessage(number);
    if (number === ${String(COUNT - 1)}) process.exit(3);
  });`;

async function byThread(): Promise<readonly [readonly number[], number]> {
  const thread = new Worker(THREAD, { eval: true });
  const heard: number[] = [];
  thread.on("message", (number: number) => heard.push(number));
  for (const number of numbers) thread.postMessage(number);
  const [code] = (await once(thread, "exit")) as [number];
  return [heard, code];
}

async function byChild(): Promise<readonly [readonly number[], number]> {
  const child = fork(fileURLToPath(import.meta.url), ["child"]);
  const heard: number[] = [];
  child.on("message", (number: number) => heard.push(number));
  const gone = once(child, "exit");
  for (const number of numbers) child.send(number);
  await until(() => heard.length === COUNT, { what: "every word of the child" });
  child.send("end");
  const [code] = (await gone) as [number];
  return [heard, code];
}

/** Large enough to arrive in pieces. */
async function byHttp(): Promise<readonly number[]> {
  const server = createHttp((request, response) => {
    let sizeBytes = 0;
    request.on("data", (data: Buffer) => (sizeBytes += data.length));
    request.on("end", () => response.end(String(sizeBytes)));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const sizes = await Promise.all(
    [1, 300_000].map(async (sizeBytes) => {
      const answer = await fetch(url, { method: "POST", body: "x".repeat(sizeBytes) });
      return Number(await answer.text());
    }),
  );
  server.closeAllConnections();
  server.close();
  return sizes;
}

if (process.argv[2] === "child") {
  process.on("message", (number) => {
    if (number === "end") process.exit(4);
    process.send?.(number);
  });
} else {
  const [thread, threadEnd] = await byThread();
  const [child, childEnd] = await byChild();
  const sample: Sample = {
    ...(await byTcp()),
    datagrams: await byUdp(),
    thread,
    child,
    ends: [threadEnd, childEnd],
    uploads: await byHttp(),
  };
  process.stdout.write(JSON.stringify(sample));
}

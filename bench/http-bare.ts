/**
 * The servers that the rows of `bench/http.ts` are compared with: bare `node:http` that reads and parses the same body,
 * and writes the same octets. It sends its address over IPC.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** What the service answered, without what Node adds. */
interface Answer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

const answer = JSON.parse(process.argv[2] ?? "{}") as Answer;
const { status, headers, body } = answer;

const server = createServer((request, response) => {
  if (request.method === "GET") {
    response.writeHead(status, headers).end(body);
    return;
  }
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const text = Buffer.concat(chunks).toString("utf8");
    const isJson = request.headers["content-type"] === "application/json";
    const email = isJson
      ? (JSON.parse(text) as { readonly email: string }).email
      : new URLSearchParams(text).get("email");
    response.writeHead(email === null ? 400 : status, headers).end(body);
  });
});
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
process.on("disconnect", () => process.exit(0));

import { once } from "node:events";
import { PassThrough, type Readable, type Writable } from "node:stream";
import {
  isJSONRPCRequest,
  type JSONRPCMessage,
  type Transport,
} from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";

/** The library's transport, but requests that are open when the input ends are still answered. */
export function answeringTransport(
  input: Readable,
  output: Writable,
): { readonly transport: Transport; readonly ended: Promise<unknown> } {
  const held = input.pipe(new PassThrough(), { end: false });
  const wire = new StdioServerTransport(held, output);
  const open = new Set<unknown>();
  const endIfAnswered = (): void => {
    if (input.readableEnded && held.readableLength === 0 && open.size === 0) held.end();
  };
  input.once("end", () => setImmediate(endIfAnswered));
  const transport: Transport = {
    async start() {
      wire.onclose = () => transport.onclose?.();
      wire.onmessage = (message: JSONRPCMessage) => {
        if (isJSONRPCRequest(message)) open.add(message.id);
        else if ("method" in message && message.method === "notifications/cancelled") {
          open.delete(message.params?.["requestId"]); // it is never answered
        }
        transport.onmessage?.(message);
      };
      await wire.start();
    },
    async send(message) {
      await wire.send(message);
      if (!("method" in message)) open.delete(message.id);
      endIfAnswered();
    },
    close: () => wire.close(),
  };
  return { transport, ended: Promise.race([once(held, "end"), once(output, "close")]) };
}

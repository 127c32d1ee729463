import type { AccountReply } from "./route.ts";

/** A file that the browser saves under `name`, which needs no quotes. */
export function file(name: string, type: string, chunks: AsyncIterable<string>): AccountReply {
  const headers = { "content-disposition": `attachment; filename=${name}` };
  return { headers, text: { type, chunks } };
}

import type { Answer, BulkServer } from "./bulk-http.ts";

export const OWNER = { key: "a1" } as const;

export interface Upload {
  readonly name?: string;
  readonly type?: string;
  readonly column?: string;
  readonly encoding?: string;
  readonly json?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Content = string | Uint8Array<ArrayBuffer>;

export function upload(
  server: BulkServer,
  content: Content,
  options: Upload = {},
): Promise<Answer> {
  const { name = "list.csv", type = "text/csv", column, encoding, json, headers = {} } = options;
  const form = new FormData();
  if (column !== undefined) form.set("column", column);
  if (encoding !== undefined) form.set("encoding", encoding);
  form.set("file", new Blob([content], { type }), name);
  if (json !== undefined) form.set("json", json);
  return server.ask("/api/bulk/upload", { ...OWNER, headers, body: form });
}

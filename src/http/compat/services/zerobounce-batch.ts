import { Refusal } from "../../../base/refusals.ts";
import type { Asked, Endpoint } from "../shape.ts";

const BATCH_MAX = 200;
/** Addresses of one batch that are checked at the same time. */
const AT_ONCE = 20;

interface Row {
  readonly email_address?: unknown;
}

interface Fault {
  readonly error: string;
  readonly email_address: string;
}

/**
 * POST /v2/validatebatch: up to 200 addresses, one unit each and one request of the rate for each 20; those that cannot
 * be paid stand under `errors`.
 */
export function validateBatch(
  noKey: string,
  check: (asked: Asked, text: string) => Promise<object>,
): Endpoint {
  const all = (error: string): object => ({
    email_batch: [],
    errors: [{ error, email_address: "all" }],
  });
  return {
    methods: ["POST"],
    paths: ["v2/validatebatch"],
    async answer(asked) {
      const rows = asked.params.value("email_batch");
      if (!Array.isArray(rows))
        return { status: 400, body: all("Missing parameter: email_batch.") };
      if (rows.length > BATCH_MAX) {
        return { status: 400, body: all(`At most ${String(BATCH_MAX)} addresses in a batch.`) };
      }
      const texts = rows.map((row: Row | null) => row?.email_address);
      if (texts.length > AT_ONCE) await asked.spend(Math.ceil(texts.length / AT_ONCE) - 1);
      const found: object[] = [];
      const errors: Fault[] = [];
      for (let at = 0; at < texts.length; at += AT_ONCE) {
        const portion = texts
          .slice(at, at + AT_ONCE)
          .map((text) => one(text, asked, { check, noKey }));
        for (const row of await Promise.all(portion))
          ("error" in row ? errors : found).push(row as Fault);
      }
      return { body: { email_batch: found, errors } };
    },
    refused: ({ kind, status, message }) =>
      kind === "key" || kind === "quota" ? { body: all(noKey) } : { status, body: all(message) },
  };
}

interface Terms {
  readonly check: (asked: Asked, text: string) => Promise<object>;
  readonly noKey: string;
}

async function one(text: unknown, asked: Asked, { check, noKey }: Terms): Promise<object> {
  if (typeof text !== "string" || text === "") {
    return { error: "Missing email_address.", email_address: "" };
  }
  try {
    return await check(asked, text);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const isSpent = error.code === "quota_exceeded";
    return { error: isSpent ? noKey : error.message, email_address: text };
  }
}

import { promisify } from "node:util";
import { constants, deflateRaw, inflateRaw } from "node:zlib";

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/**
 * Texts of a batch are many times the same words, and there may be 15 minutes of them: compressed they take
 * about a tenth (deflate, fastest level). The work is done on zlib's own threads.
 */
export const packText = (text: string | Uint8Array): Promise<Uint8Array> =>
  deflate(text, { level: constants.Z_BEST_SPEED });

export async function unpackText(packed: Uint8Array): Promise<string> {
  const text = await inflate(packed);
  return text.toString("utf8");
}

/** Lines without line breaks in them, none of them empty. */
export const packLines = (lines: readonly string[]): Promise<Uint8Array> =>
  packText(lines.join("\n"));

export async function unpackLines(packed: Uint8Array): Promise<readonly string[]> {
  const text = await unpackText(packed);
  return text === "" ? [] : text.split("\n");
}

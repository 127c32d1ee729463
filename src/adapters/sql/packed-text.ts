import { constants, deflateRaw, inflateRaw } from "node:zlib";

/**
 * Texts of a batch are many times the same words, and there may be 15 minutes of them: compressed they take
 * about a tenth (deflate, fastest level). The work is done on zlib's own threads.
 */
export function packText(text: string): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    deflateRaw(text, { level: constants.Z_BEST_SPEED }, (error, packed) => {
      if (error === null) resolve(packed);
      else reject(error);
    });
  });
}

export function unpackText(packed: Uint8Array): Promise<string> {
  return new Promise((resolve, reject) => {
    inflateRaw(packed, (error, text) => {
      if (error === null) resolve(text.toString("utf8"));
      else reject(error);
    });
  });
}

/** Lines without line breaks in them, none of them empty. */
export const packLines = (lines: readonly string[]): Promise<Uint8Array> =>
  packText(lines.join("\n"));

export async function unpackLines(packed: Uint8Array): Promise<readonly string[]> {
  const text = await unpackText(packed);
  return text === "" ? [] : text.split("\n");
}

import { promisify } from "node:util";
import { constants, deflateRaw, inflateRaw } from "node:zlib";

const deflate = promisify(deflateRaw);

const inflate = promisify(inflateRaw);

/** Deflate at its fastest level makes a tenth of a batch, on zlib's own threads. */
export const packText = (text: string | Uint8Array): Promise<Uint8Array> =>
  deflate(text, { level: constants.Z_BEST_SPEED });

export const unpackOctets = (packed: Uint8Array): Promise<Buffer> => inflate(packed);

export async function unpackText(packed: Uint8Array): Promise<string> {
  return (await unpackOctets(packed)).toString("utf8");
}

export const packLines = (lines: readonly string[]): Promise<Uint8Array> =>
  packText(lines.join("\n"));

export async function unpackLines(packed: Uint8Array): Promise<readonly string[]> {
  const text = await unpackText(packed);
  return text === "" ? [] : text.split("\n");
}

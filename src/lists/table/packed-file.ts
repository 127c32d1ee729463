import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { constants, deflateRaw, inflateRaw } from "node:zlib";
import type { SharedFile } from "../feed-files.ts";

const deflate = promisify(deflateRaw);
const inflate = promisify<Uint8Array, { maxOutputLength: number }, Uint8Array>(inflateRaw);

/** A longer text is not one of our files: the largest list has 3 MB. */
const TEXT_BYTES_MAX = 64 * 1_048_576;

/** The version of a text: its SHA-256, so that damaged content is detected. */
export const versionOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Compressed on threads of zlib's own. */
export async function packFile(
  name: string,
  text: string,
  changedAtMs: number,
): Promise<SharedFile> {
  const content = await deflate(text, { level: constants.Z_BEST_SPEED });
  return { name, version: versionOf(text), content, changedAtMs };
}

/** Undefined when it is not what its version says. */
export async function unpackFile({ version, content }: SharedFile): Promise<string | undefined> {
  try {
    const bytes = await inflate(content, { maxOutputLength: TEXT_BYTES_MAX });
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return versionOf(text) === version ? text : undefined;
  } catch {
    return undefined;
  }
}

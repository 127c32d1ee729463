import { createHash } from "node:crypto";
import type { Datasets } from "../../core/evidence/datasets.ts";
import { domainEvidence } from "../../core/evidence/domain-evidence.ts";
import { isKnownGood } from "../../core/evidence/known-good.ts";
import { SIGNALS } from "../../core/evidence/signals.ts";
import { weigh } from "../../core/evidence/verdict.ts";
import { parseDomain } from "../../core/name/domain.ts";
import { uLabels } from "../../core/name/u-labels.ts";

/**
 * What a client takes along, so that it refuses listed names while the service does not answer: keyed hashes of 40
 * bits. `docs/pocket.md` has the format.
 */
export interface PocketFile {
  readonly body: Uint8Array;
  /** With its quotes; the same in every process of an installation that holds the same lists. */
  readonly etag: string;
}

/** What is known now, as one piece. */
export interface PocketSource {
  readonly datasets: Datasets;
  /** Every name of `datasets` that a list, a family of names or the operator says something about. */
  readonly names: () => Iterable<string>;
}

export interface PocketDeps {
  /** 16 bytes, published in the file. */
  readonly key: Uint8Array;
  /** Lets other work run. */
  readonly pause: () => Promise<void>;
  readonly maxBytes?: number;
}

/** In the order of the file. */
const SECTIONS = ["domains", "exact", "below", "allowed", "allowed_below"] as const;
type Section = (typeof SECTIONS)[number];

export const POCKET_MAX_BYTES = 1_000_000;

/** The first line is never longer. */
const HEAD_MAX_BYTES = 400;
const HASH_BYTES = 5;

/** Names between two pauses: about 2 ms of work. */
const SLICE_NAMES = 250;

/** A label that no list, word or provider knows, to see what is said of the names below one. */
const ANY_LABEL = "x";

/** About 1.5 s of work for 170,000 names, in slices. */
export async function makePocket(source: PocketSource, deps: PocketDeps): Promise<PocketFile> {
  const hashes = new PocketHashes(deps.key);
  let seen = 0;
  for (const name of source.names()) {
    seen += 1;
    if (seen % SLICE_NAMES === 0) await deps.pause();
    place(name, source.datasets, hashes);
  }
  return hashes.file(deps.maxBytes ?? POCKET_MAX_BYTES);
}

/** Puts a name where it belongs, by what the service itself says of it and of the names below it. */
function place(name: string, datasets: Datasets, hashes: PocketHashes): void {
  const own = refusal(name, datasets);
  const below = refusalBelow(name, datasets);
  const strength = own === "sure" || below === "sure" ? "sure" : "likely";
  if (own !== "none" && below !== "none") return hashes.add(name, "domains", strength);
  if (own !== "none") hashes.add(name, "exact", strength);
  if (below !== "none") hashes.add(name, "below", strength);
  const isCovered = parentsOf(name).some((parent) => refusalBelow(parent, datasets) !== "none");
  if (!isCovered) return;
  if (own === "none") hashes.add(name, "allowed", "sure");
  if (below === "none") hashes.add(name, "allowed_below", "sure");
}

/** `sure`: by a curated list or the operator; these stay when the file has no room for all. */
type Strength = "sure" | "likely";

/** Whether the built-in policy rejects the name as disposable while DNS is silent. */
function refusal(name: string, datasets: Datasets): Strength | "none" {
  const parsed = parseDomain(name);
  if (!parsed.ok) return "none";
  const pieces = domainEvidence(parsed.value, { kind: "unknown" }, datasets);
  // The built-in policy accepts what is known good or allowed, and challenges typing errors first.
  const isMilder = pieces.some(({ signal }) => signal === "typo_domain");
  if (isMilder || isKnownGood(parsed.value.name, datasets)) return "none";
  if (!weigh(pieces).disposable) return "none";
  return pieces.some(({ weight }) => weight >= SURE_WEIGHT) ? "sure" : "likely";
}

const SURE_WEIGHT = SIGNALS.blacklist_parent.weight;

const refusalBelow = (name: string, datasets: Datasets): Strength | "none" =>
  refusal(`${ANY_LABEL}.${name}`, datasets);

/** "b.c" and "c" of "a.b.c". */
function parentsOf(name: string): readonly string[] {
  const labels = name.split(".");
  return labels.slice(1).map((_, at) => labels.slice(at + 1).join("."));
}

class PocketHashes {
  readonly #key: Uint8Array;
  readonly #kept: Record<Section, Record<Strength, number[]>>;

  constructor(key: Uint8Array) {
    this.#key = key;
    const none = (): Record<Strength, number[]> => ({ sure: [], likely: [] });
    this.#kept = {
      domains: none(),
      exact: none(),
      below: none(),
      allowed: none(),
      allowed_below: none(),
    };
  }

  /** A name with other letters is kept as people write it too: a client need not know IDNA. */
  add(name: string, section: Section, strength: Strength): void {
    const kept = this.#kept[section][strength];
    kept.push(this.#hashOf(name));
    const written = uLabels(name);
    if (written !== name) kept.push(this.#hashOf(written));
  }

  #hashOf(name: string): number {
    const digest = createHash("sha256").update(this.#key).update(name, "utf8").digest();
    return digest.readUIntBE(0, HASH_BYTES);
  }

  /** When there is no room for all, exceptions come first, then what is sure. */
  file(maxBytes: number): PocketFile {
    let room = Math.floor((maxBytes - HEAD_MAX_BYTES) / HASH_BYTES);
    let leftOut = 0;
    const taken = new Map<Section, number[]>();
    for (const strength of ["sure", "likely"] as const) {
      for (const section of SECTIONS.toReversed()) {
        const all = inOrder(this.#kept[section][strength]);
        const some = all.slice(0, room);
        room -= some.length;
        leftOut += all.length - some.length;
        taken.set(section, inOrder([...(taken.get(section) ?? []), ...some]));
      }
    }
    const sections = SECTIONS.map((section) => taken.get(section) ?? []);
    const counts = SECTIONS.map((section, at) => [section, sections[at]?.length ?? 0] as const);
    const head = {
      format: "gatepost-pocket",
      version: 1,
      key: Buffer.from(this.#key).toString("hex"),
      ...Object.fromEntries(counts),
      left_out: leftOut,
    };
    const body = Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), ...sections.map(packed)]);
    return { body, etag: `"${createHash("sha256").update(body).digest("hex").slice(0, 32)}"` };
  }
}

/** Ascending, each once. */
function inOrder(hashes: readonly number[]): number[] {
  const sorted = Float64Array.from(hashes).sort();
  return Array.from(sorted).filter((hash, at) => hash !== sorted[at - 1]);
}

function packed(hashes: readonly number[]): Buffer {
  const bytes = Buffer.alloc(hashes.length * HASH_BYTES);
  for (const [at, hash] of hashes.entries()) bytes.writeUIntBE(hash, at * HASH_BYTES, HASH_BYTES);
  return bytes;
}

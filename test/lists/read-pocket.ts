import { createHash } from "node:crypto";

/** The reader of docs/pocket.md, step by step. */
export interface ReadPocket {
  readonly head: Readonly<Record<string, string | number>>;
  /** Whether the list rejects a domain, as people write it. */
  has(domain: string): boolean;
}

const SECTIONS = ["domains", "exact", "below", "allowed", "allowed_below"] as const;

export function readPocket(file: Uint8Array): ReadPocket {
  const bytes = Buffer.from(file);
  const end = bytes.indexOf("\n");
  const head = JSON.parse(bytes.toString("latin1", 0, end)) as Record<string, string | number>;
  const key = Buffer.from(String(head["key"]), "hex");
  let at = end + 1;
  const sets = SECTIONS.map((section) => {
    const hashes = new Set<number>();
    const stop = at + Number(head[section]) * 5;
    for (let last = -1; at < stop; at += 5) {
      const hash = bytes.readUIntBE(at, 5);
      if (hash <= last) throw new Error(`${section}: not in ascending order`);
      last = hash;
      hashes.add(hash);
    }
    return hashes;
  });
  if (at !== bytes.length) throw new Error("octets behind the last section");
  const [domains, exact, below, allowed, allowedBelow] = sets;
  return {
    head,
    has(domain) {
      const labels = domain.normalize("NFKC").toLowerCase().split(".");
      for (const from of labels.keys()) {
        const name = labels.slice(from).join(".");
        const hash = createHash("sha256").update(key).update(name).digest().readUIntBE(0, 5);
        const [pass, stop] = from === 0 ? [allowed, exact] : [allowedBelow, below];
        if (pass?.has(hash) === true) return false;
        if (domains?.has(hash) === true || stop?.has(hash) === true) return true;
      }
      return false;
    },
  };
}

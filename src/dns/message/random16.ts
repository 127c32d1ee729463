const DRAWN_OCTETS = 4_096;

/** Numbers of 16 random bits, drawn from the source a few thousand at a time. */
export function random16From(random: (count: number) => Uint8Array): () => number {
  let drawn = random(DRAWN_OCTETS);
  let used = 0;
  return () => {
    if (used === DRAWN_OCTETS) {
      drawn = random(DRAWN_OCTETS);
      used = 0;
    }
    const value = ((drawn[used] ?? 0) << 8) | (drawn[used + 1] ?? 0);
    used += 2;
    return value;
  };
}

/**
 * Whether a name means something to JavaScript itself: `__proto__`, `constructor`, `toString`. Nothing of ours or of a
 * caller's gets such a name, because whatever keeps things by name in an object would lose it or give back another.
 */
export const isReservedName = (name: string): boolean =>
  name.startsWith("__") || name === "prototype" || name in Object.prototype;

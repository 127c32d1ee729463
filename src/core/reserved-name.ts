/** `__proto__`, `constructor`, `toString`: an object that keeps things by name would lose it or give back another. */
export const isReservedName = (name: string): boolean =>
  name.startsWith("__") || name === "prototype" || name in Object.prototype;

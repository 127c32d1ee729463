/** Whether this process runs a long test file: one that imports the tests of a quick file runs them with its effort. */
const isLong = process.argv[1]?.endsWith(".long.test.js") === true;

/** Inputs of a property in the quick suite, and in the long one. */
export const effort = (quick: number, long: number): number => (isLong ? long : quick);

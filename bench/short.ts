const isShort = process.env["BENCH_SHORT"] !== undefined;

/** With BENCH_SHORT=1 a bench shows in some seconds that it runs, as test/guards/benches.long.test.ts asks. */
export const sized = (usual: number, short: number): number => (isShort ? short : usual);

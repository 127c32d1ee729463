import type { TestContext } from "node:test";

/** Makes a new implementation for a test, and closes it after the test. */
export type Make<T> = (t: TestContext) => Promise<T>;

import type { TestContext } from "node:test";

/** Makes one fresh implementation for a test, and sees to its end. */
export type Make<T> = (t: TestContext) => Promise<T>;

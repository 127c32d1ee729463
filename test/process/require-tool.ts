import { spawnSync } from "node:child_process";
import { test, type TestContext } from "node:test";

/** Whether a program can be started here. */
export function hasTool(name: string, versionFlag = "--version"): boolean {
  return spawnSync(name, [versionFlag], { stdio: "ignore" }).error === undefined;
}

/**
 * Runs a test that needs more than Node and npm. Without it the test is skipped with a
 * reason; with REQUIRE_SERVICES a skip is a failure.
 */
export function testWith(
  needed: readonly string[],
  missing: readonly string[],
  name: string,
  body: (t: TestContext) => Promise<void>,
): void {
  if (missing.length === 0) {
    test(name, body);
    return;
  }
  const reason = `needs ${needed.join(", ")}; missing here: ${missing.join(", ")}`;
  if (process.env["REQUIRE_SERVICES"] === undefined) {
    test(name, { skip: reason }, () => undefined);
  } else {
    test(name, () => {
      throw new Error(`REQUIRE_SERVICES is set, but this suite ${reason}`);
    });
  }
}

/** The same for programs on the path. */
export function testWithTools(
  tools: readonly string[],
  name: string,
  body: () => Promise<void>,
): void {
  const missing = tools.filter((tool) => !hasTool(tool));
  testWith(tools, missing, name, body);
}

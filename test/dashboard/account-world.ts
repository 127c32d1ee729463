import { strict as assert } from "node:assert";
import type { TestContext } from "node:test";
import { Browser } from "./dashboard-client.ts";
import { dashboardWorld, type DashboardWorldOptions, PASSWORD } from "./dashboard-world.ts";

export async function worldFor(t: TestContext, options: DashboardWorldOptions = {}) {
  const world = await dashboardWorld(options);
  t.after(() => world.close());
  const browser = new Browser(world);
  const signedIn = async (email: string, password = PASSWORD): Promise<Browser> => {
    const other = new Browser(world);
    assert.equal((await other.signIn(email, password)).status, 204);
    return other;
  };
  return { world, browser, signedIn };
}

export const EMAIL = "ann@gatepost.example";

/** One domain that takes mail. */
export const ZONE = {
  "good.example": { mx: ["1 mx.good.example"], txt: ["v=spf1 -all"] },
  "mx.good.example": { a: ["203.0.113.1"] },
};

/** The objects of an answer that comes line by line. */
export const linesOf = (text: string) =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

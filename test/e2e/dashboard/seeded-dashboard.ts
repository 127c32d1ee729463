import { strict as assert } from "node:assert";
import { after, before } from "node:test";
import type { Page } from "playwright-core";
import { type DashboardWorld, dashboardWorld } from "../../dashboard/dashboard-world.ts";
import type { Zone } from "../../dns/zone-lookup.ts";
import { goTo, openPage, type View } from "../browser.ts";

export const mail = (name: string, host = `mx.${name}`): Zone => ({
  [name]: { mx: [`10 ${host}`] },
  [host]: { a: ["203.0.113.5"] },
});

const LIST_DOMAINS = 2_000;

const ZONE: Zone = {
  ...mail("good.example"),
  ...mail("throwaway.example"),
  ...mail("gmial.com"),
  "silent.example": { unknown: true },
  ...Object.assign(
    {},
    ...Array.from({ length: LIST_DOMAINS }, (_, at) =>
      mail(`d${String(at)}.example`, "mx.all.example"),
    ),
  ),
};

/** The dashboard of the file that imports this: two accounts of 40 days, and 2,000 domains that take mail. */
export let world: DashboardWorld;
export let adminCookie = "";
export let accountCookie = "";
const ADMIN = "admin@gatepost.example";
export const OWN = "own@gatepost.example";

before(async () => {
  world = await dashboardWorld({ zone: ZONE, known: { curated: ["throwaway.example"] } });
  const adminId = await world.addAccount(ADMIN, { isAdmin: true, tier: "pro" });
  const ownId = await world.addAccount(OWN, { tier: "pro" });
  adminCookie = await world.cookieOf(adminId);
  accountCookie = await world.cookieOf(ownId);
  const today = Math.floor(Date.now() / 86_400_000);
  for (const id of [adminId, ownId]) {
    const days = Array.from({ length: 40 }, (_, at) => ({
      owner: `account:${id}`,
      day: today - at,
      units: 1_000 + at * 30,
      credits: at % 5,
      requests: 400 + at * 10,
      refusals: at % 7,
      latency: [300, 60, 30, 6, 3, 1, 0],
    }));
    await world.usage.add(days);
    await world.store.credits.grant(id, 500, "Welcome");
    await world.store.keys.create(id, "Sign-up form");
  }
});

after(() => world.close());

/** Opens one page of it; `end` asserts that nothing complained. */
export async function visit(
  path: string,
  view: View = {},
): Promise<{ page: Page; end: () => Promise<void> }> {
  const { page, context, complaints } = await openPage(world.url, view);
  await goTo(page, `${world.url}${path}`);
  return {
    page,
    end: async () => {
      assert.deepEqual(complaints, []);
      await context.close();
    },
  };
}

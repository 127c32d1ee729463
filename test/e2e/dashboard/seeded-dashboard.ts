import { strict as assert } from "node:assert";
import { after, before } from "node:test";
import type { Page } from "playwright-core";
import { type DashboardWorld, dashboardWorld } from "../../dashboard/dashboard-world.ts";
import type { Zone } from "../../dns/zone-lookup.ts";
import { goTo, openPage, type View } from "../browser.ts";

const mail = (name: string, host = `mx.${name}`): Zone => ({
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

/** The dashboard of the file that imports this, with 2,000 domains that take mail. */
export let world: DashboardWorld;

before(async () => {
  world = await dashboardWorld({ zone: ZONE, known: { curated: ["throwaway.example"] } });
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

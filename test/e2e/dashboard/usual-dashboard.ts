import { after, before } from "node:test";
import type { Locator, Page } from "playwright-core";
import { type DashboardWorld, dashboardWorld } from "../../dashboard/dashboard-world.ts";
import { goTo, openPage, type Opened, type View } from "../browser.ts";

/** The dashboard of the file that imports this, with one domain that takes mail and one that is disposable. */
export let world: DashboardWorld;

before(async () => {
  world = await dashboardWorld({
    zone: {
      "good.example": { mx: ["10 mx.good.example"] },
      "mx.good.example": { a: ["203.0.113.5"] },
    },
    known: { curated: ["throwaway.example"] },
  });
});

after(() => world.close());

/** Opens one page of it in a new profile and waits until it has loaded. */
export async function visit(path: string, view: View = {}): Promise<Opened> {
  const opened = await openPage(world.url, view);
  await goTo(opened.page, `${world.url}${path}`);
  return opened;
}

export const button = (page: Page, name: string | RegExp): Locator =>
  page.getByRole("button", { name });

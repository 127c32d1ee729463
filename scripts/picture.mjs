// Makes docs/images/dashboard-light.png and dashboard-dark.png, which the README shows: `npm run picture`. Needs Chromium.
import { mkdirSync, writeFileSync } from "node:fs";
import { goTo, openPage } from "../dist/test/e2e/browser.js";
import { startServiceWorld } from "../dist/test/e2e/service-world.js";

const zone = {
  "mailinator.com": { mx: ["10 mail.mailinator.com"] },
  "mail.mailinator.com": { a: ["192.0.2.25"] },
};
const world = await startServiceWorld({ zone });
const address = `${world.service.url}/#jo@mailinator.com`;
mkdirSync("docs/images", { recursive: true });
try {
  for (const theme of ["light", "dark"]) {
    const { page, context } = await openPage(address, { theme, width: 1_200 });
    await goTo(page, address);
    await page.getByText("blacklist_exact").first().waitFor({ state: "attached" });
    await page.waitForLoadState("networkidle");
    writeFileSync(`docs/images/dashboard-${theme}.png`, await page.screenshot());
    await context.close();
  }
} finally {
  await world.close();
}
process.exit();

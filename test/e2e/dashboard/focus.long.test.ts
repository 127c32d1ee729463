import { strict as assert } from "node:assert";
import type { Page } from "playwright-core";
import { focusOn, testInBrowser } from "../browser.ts";
import { visit, world } from "./usual-dashboard.ts";

const visitAs = async (id: string, path: string) =>
  visit(path, { cookie: await world.cookieOf(id) });

async function press(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name, exact: true }).focus();
  await page.keyboard.press("Enter");
}

testInBrowser("a button that was busy gets the focus back", async () => {
  const id = await world.addAccount("busy@gatepost.example");
  const { page, context, complaints } = await visitAs(id, "/settings");
  await press(page, "Count spellings");
  await focusOn(page, "Stop counting and forget");
  assert.deepEqual(complaints, []);
  await context.close();
});

testInBrowser("after a key is revoked, the page's heading has the focus", async () => {
  const id = await world.addAccount("revoker@gatepost.example");
  await world.store.keys.create(id, "First");
  const { page, context, complaints } = await visitAs(id, "/keys");
  await press(page, "Revoke First");
  await press(page, "Revoke the key");
  await page.getByText(/^Revoked/).waitFor();
  await focusOn(page, "Keys");
  assert.deepEqual(complaints, []);
  await context.close();
});

testInBrowser("after a rule is deleted, the heading of its part has the focus", async () => {
  const adminId = await world.addAccount("admin@gatepost.example", { isAdmin: true });
  await world.lists.operator.save("bad.example", "deny", { note: "", author: adminId });
  const { page, context, complaints } = await visitAs(adminId, "/admin/lists");
  await press(page, "Forget bad.example");
  await press(page, "Forget it");
  await page.getByText("No entries yet").waitFor();
  await focusOn(page, "Your own entries");
  assert.deepEqual(complaints, []);
  await context.close();
});

testInBrowser("when a browser is signed out, the heading of its part has the focus", async () => {
  const id = await world.addAccount("sessions@gatepost.example");
  await world.cookieOf(id);
  const { page, context, complaints } = await visitAs(id, "/settings");
  await press(page, "Sign out A browser");
  await focusOn(page, "Where you are signed in");
  assert.deepEqual(complaints, []);
  await context.close();
});

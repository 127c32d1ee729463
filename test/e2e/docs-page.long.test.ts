import assert from "node:assert/strict";
import { forkDnsServer } from "../dns/dns-server.ts";
import { openPage, testInBrowser } from "./browser.ts";
import { DOCS_ZONE } from "./docs-zone.ts";
import { makeHome, startService } from "./service-process.ts";

const ZONE = {
  ...DOCS_ZONE,
  "iana.org": { mx: ["10 mx1.mail.example"] },
};

testInBrowser("Execute in /docs works under every name of the service", async () => {
  const dns = await forkDnsServer(ZONE);
  const home = makeHome({
    GATEPOST_DNS_SERVERS: `127.0.0.1:${String(dns.port)}`,
    HOST: "0.0.0.0",
  });
  const service = await startService(home);
  const { port } = new URL(service.url);
  try {
    for (const host of ["localhost", "127.0.0.1"]) {
      const { page, context, complaints } = await openPage(`http://${host}:${port}/docs`);
      await page.goto(`http://${host}:${port}/docs`);
      const operation = page.locator("#operations-checks-checkEmailWithFeature");
      await operation.locator(".opblock-summary-control").click();
      await operation.locator("button.execute").click();
      const answer = operation.locator(".live-responses-table .response-col_status").last();
      await answer.waitFor();
      assert.match(await answer.innerText(), /^200/);
      const body = await operation.locator(".live-responses-table").innerText();
      assert.match(body, /"format": true/);
      assert.match(body, /"dns": true/);
      assert.deepEqual(complaints, []);
      await context.close();
    }
    assert.match(service.log(), /"msg":"server\.public_url_guessed"/);
  } finally {
    await service.stop();
    await dns.close();
    home.remove();
  }
});

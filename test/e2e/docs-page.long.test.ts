import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request as forward, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { openPage, testInBrowser } from "./browser.ts";
import { DOCS_ZONE } from "./docs-zone.ts";
import { startServiceWorld } from "./service-world.ts";

const ZONE = {
  ...DOCS_ZONE,
  "iana.org": { mx: ["10 mx1.mail.example"] },
};

/** A proxy that people reach as "localhost"; the service sees its Host, and the people's in X-Forwarded headers. */
async function startProxy(target: string): Promise<Server> {
  const { host, hostname, port } = new URL(target);
  const server = createServer((request, response) => {
    const { method, url: path, headers } = request;
    const forwarded = {
      "x-forwarded-for": request.socket.remoteAddress ?? "",
      "x-forwarded-host": headers.host ?? "",
      "x-forwarded-proto": "http",
    };
    const options = { hostname, port, method, path, headers: { ...headers, host, ...forwarded } };
    const asked = forward(options, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    request.pipe(asked);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return server;
}

testInBrowser(
  "Execute in /docs works under every name of the service, and behind a proxy",
  async () => {
    const settings = { GATEPOST_TRUST_PROXY: "127.0.0.1", HOST: "0.0.0.0" };
    const world = await startServiceWorld({ zone: ZONE, settings });
    const { service } = world;
    const { port } = new URL(service.url);
    const proxy = await startProxy(service.url);
    const { port: proxyPort } = proxy.address() as AddressInfo;
    try {
      for (const host of [
        `localhost:${port}`,
        `127.0.0.1:${port}`,
        `localhost:${String(proxyPort)}`,
      ]) {
        const { page, context, complaints } = await openPage(`http://${host}/docs`);
        await page.goto(`http://${host}/docs`);
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
      proxy.close();
      proxy.closeAllConnections();
      await world.close();
    }
  },
);

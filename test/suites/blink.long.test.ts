// A resolver that answers nothing for some seconds, while thousands of names of a list are under way.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { startDnsServer } from "../dns/dns-server.ts";
import { gatepost, makeHome, startService } from "../e2e/service-process.ts";
import { until } from "../time/until.ts";

const NAMES = 4_000;
/** Slow enough that many names are under way at a time. */
const DELAY_MS = 150;

const names = Array.from({ length: NAMES }, (_, at) => `n${String(at)}.example`);
const mail = { mx: ["10 mx.mail.example"], delayMs: DELAY_MS };
const zone = {
  "mx.mail.example": { a: ["203.0.113.5"] },
  ...Object.fromEntries(names.map((name) => [name, mail])),
};

for (const silentMs of [3_500, 5_000, 7_000]) {
  test(`of ${String(NAMES)} names none is unknown after ${String(silentMs / 1_000)} s without an answer`, async (t) => {
    const dns = await startDnsServer(zone);
    t.after(() => dns.close());
    const home = makeHome({
      GATEPOST_DNS_SERVERS: `127.0.0.1:${String(dns.port)}`,
      GATEPOST_DNS_CANARIES: "off",
    });
    t.after(() => home.remove());
    const words = ["account", "create", "a@example.com", "--tier", "pro", "--json"];
    const { api_key: key } = JSON.parse(gatepost(home, words).out) as { readonly api_key: string };
    const service = await startService(home);
    t.after(() => service.stop("SIGKILL"));
    const auth = { "x-api-key": key };
    const body = new URLSearchParams({ bulk: "1", email: names.join("\n") }).toString();
    const { session } = JSON.parse((await service.post("/api/email", body, auth)).body) as {
      readonly session: string;
    };
    await until(() => dns.asked.length > NAMES / 4, { everyMs: 5 });
    const speak = dns.mute();
    await pause(silentMs);
    speak();
    const list = await until(
      async () => {
        const { body: view } = await service.get(`/api/view/${session}`, auth);
        return view.startsWith("{") && /"status":"p/.test(view) ? undefined : view;
      },
      { withinMs: 240_000, everyMs: 100 },
    );
    const valid = list.split("\n").filter(Boolean).length;
    assert.equal(valid, NAMES, list.slice(0, 300));
  });
}

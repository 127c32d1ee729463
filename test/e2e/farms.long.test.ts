// Sign-up farms against the real program: counts outlive a kill, and the files hold no address.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { test } from "node:test";
import type { ServedZone } from "../dns/dns-zone.ts";
import { until } from "../time/until.ts";
import { gatepost, startService, type ServiceProcess } from "./service-process.ts";
import { createAccount, startServiceWorld } from "./service-world.ts";

const NAMES = Array.from({ length: 10 }, (_, at) => `mail${String(at)}.farm.example`);
const MAIL = { mx: ["10 mx.farm.example"] };
const ZONE: ServedZone = {
  ...Object.fromEntries(NAMES.map((name) => [name, MAIL])),
  "secretname.example": MAIL,
  "mx.farm.example": { a: ["192.0.2.25"] },
};

/** What a kill may lose. */
const LOST_MS = 1_000;

async function decide(service: ServiceProcess, email: string, key: string): Promise<string> {
  const form = new URLSearchParams({ email }).toString();
  const { status, body } = await service.post("/api/decide", form, { "x-api-key": key });
  assert.equal(status, 200, body);
  const { decision, reason } = JSON.parse(body) as { decision: string; reason: string };
  return `${decision} ${reason}`;
}

/** All files of the data directory as one text. */
const filesOf = (folder: string): string =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
    .join("\n");

test("a farm is found across a kill, and no file holds an address", async () => {
  let key = "";
  let account = "";
  const { home, service, close } = await startServiceWorld({
    zone: ZONE,
    prepare(made) {
      ({ api_key: key, account_id: account } = createAccount(made, "jo@shop.example"));
      assert.equal(gatepost(made, ["account", "log", account, "on"]).code, 0);
    },
  });
  try {
    for (const name of NAMES.slice(0, 4)) {
      assert.equal(await decide(service, `secretlocal@${name}`, key), "accept ok");
    }
    const told = new URLSearchParams({ email: "secretlocal@secretname.example", outcome: "abuse" });
    const reply = await service.post("/api/feedback", told.toString(), { "x-api-key": key });
    assert.equal(reply.body, '{"recorded":true}');
    await pause(LOST_MS);
    await service.stop("SIGKILL");
    const again = await startService(home);
    try {
      assert.equal(await decide(again, `other@${NAMES[4] ?? ""}`, key), "review burst");
      const queue = await until(async () => {
        const { body } = await again.get("/api/decisions?decision=review", { "x-api-key": key });
        const { decisions } = JSON.parse(body) as { decisions: readonly object[] };
        return decisions.length > 0 ? body : undefined;
      });
      assert.match(queue, /"registrable_domain":"farm.example"/);
    } finally {
      await again.stop();
    }
    const files = filesOf(home.directory);
    assert.ok(files.length > 10_000);
    assert.doesNotMatch(files, /secretlocal|other@/);
  } finally {
    await close();
  }
});

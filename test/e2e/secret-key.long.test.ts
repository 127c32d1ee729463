import { strict as assert } from "node:assert";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gatepost, makeHome, startService } from "./service-process.ts";

test("a start with another secret key is refused until the operator replaces the old one", async (t) => {
  const home = makeHome({ GATEPOST_DNS_SERVERS: "127.0.0.1:9", PORT: "0" });
  t.after(() => home.remove());
  const { api_key: apiKey } = JSON.parse(
    gatepost(home, ["account", "create", "ada@gatepost.example", "--json"]).out,
  );
  assert.equal(gatepost(home, ["lists", "status"]).code, 0);
  const key = join(home.directory, "secret.key");
  const doctor = (): string => gatepost(home, ["doctor"]).out;
  assert.match(doctor(), /ok +secret key +It is the one that this database is used with\./);
  rmSync(key);
  const missing =
    /secret\.key is missing in \S+, and the database there is used with it; nothing was written\..+--new-secret-key/;
  const refused = (refusal: RegExp): void => {
    for (const words of [
      ["serve"],
      ["lists", "status"],
      ["webhook", "log", "ada@gatepost.example"],
    ]) {
      const { code, out, err } = gatepost(home, words);
      assert.deepEqual([code, out], [3, ""], words.join(" "));
      assert.match(err, refusal);
    }
    assert.match(doctor(), new RegExp(`wrong +secret key +${refusal.source}`));
  };
  const rows = (): string => gatepost(home, ["account", "list", "--json"]).out;
  const before = rows();
  refused(missing);
  assert.ok(!existsSync(key), "none is made");
  assert.equal(rows(), before);
  writeFileSync(key, Buffer.alloc(32, 9).toString("base64"));
  refused(/secret\.key in \S+ is not the key that this database is used with\..+--new-secret-key/);
  assert.equal(gatepost(home, ["key", "list", "ada@gatepost.example"]).code, 0, "no key is needed");
  const { code, out } = gatepost(home, ["migrate", "--new-secret-key"]);
  assert.equal(code, 0);
  assert.match(out, /Every webhook, hook and account with tokens needs a new secret/);
  const service = await startService(home);
  t.after(() => service.child.kill("SIGKILL"));
  const { status } = await service.get("/api/domain/a.invalid", { "x-api-key": apiKey });
  assert.equal(status, 200);
  const beside = gatepost(home, ["migrate", "--new-secret-key"]);
  assert.deepEqual([beside.code, beside.out], [3, ""], "not beside a running service");
  assert.match(beside.err, /another gatepost serves it/);
  assert.equal(await service.stop(), 0);
});

import { strict as assert } from "node:assert";
import { rmSync } from "node:fs";
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
  rmSync(join(home.directory, "secret.key"));
  const refusal =
    /^gatepost: secret\.key in \S+ is not the key that this database is used with\..+--new-secret-key.+\n(?:See .+\n)?$/;
  for (const words of [
    ["serve"],
    ["lists", "status"],
    ["webhook", "log", "ada@gatepost.example"],
  ]) {
    const { code, out, err } = gatepost(home, words);
    assert.deepEqual([code, out], [3, ""], words.join(" "));
    assert.match(err, refusal);
  }
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

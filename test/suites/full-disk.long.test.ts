// A real disk that is full, and starts that refuse in words.
import assert from "node:assert/strict";
import { rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { Browser } from "../dashboard/dashboard-client.ts";
import { PASSWORD } from "../dashboard/dashboard-world.ts";
import { gatepost, type Home, makeHome, startService } from "../e2e/service-process.ts";
import { ownDisk } from "../process/own-disk.ts";
import { until } from "../time/until.ts";

const NO_DNS = { GATEPOST_DNS_SERVERS: "127.0.0.1:9", GATEPOST_DNS_CANARIES: "off" };

function homeOn(t: TestContext, options: string) {
  const disk = ownDisk(options);
  if (disk === undefined) {
    t.skip("needs the right to mount");
    return undefined;
  }
  t.after(() => disk.end());
  const settings = { ...NO_DNS, GATEPOST_DATA_DIR: disk.folder, GATEPOST_LISTS_REFRESH: "off" };
  const home: Home = { directory: disk.folder, settings, remove: () => undefined };
  return { home, disk };
}

test("while the disk is full what must be stored is 503 and names it, all else goes on", async (t) => {
  const { home } = homeOn(t, "size=64m") ?? {};
  if (home === undefined) return;
  const made = gatepost(
    home,
    ["account", "create", "boss@example.com", "--admin", "--password-stdin", "--json"],
    PASSWORD,
  );
  const { api_key: key } = JSON.parse(made.out) as { readonly api_key: string };
  const service = await startService(home);
  t.after(() => service.stop("SIGKILL"));
  const browser = new Browser(service);
  await browser.signIn("boss@example.com", PASSWORD);
  const filler = join(home.directory, "filler");
  for (let megabytes = 64; megabytes > 0; megabytes = Math.floor(megabytes / 2)) {
    try {
      writeFileSync(filler, Buffer.alloc(megabytes * 1_048_576), { flag: "a" });
    } catch {
      // It takes a smaller piece, or none.
    }
  }
  const auth = { "x-api-key": key };
  const report = "email=jo@example.com&outcome=abuse";
  const named = /^The disk of this service is full, so that nothing can be stored\./;
  // The log of the database has some room left.
  const refused = await until(async () => {
    const answer = await service.post("/api/feedback", report, auth);
    return answer.status === 503 ? answer : undefined;
  });
  assert.match((JSON.parse(refused.body) as { error: string }).error, named);
  for (const [path, body] of [
    ["keys", { name: "new" }],
    ["password", { current_password: PASSWORD, new_password: `${PASSWORD} again` }],
    ["admin/lists/entries", { entry: "example.org", kind: "deny", note: "" }],
    ["token-secret", {}],
  ] as const) {
    const { status, text } = await browser.post(path, body);
    assert.equal(status, 503, `${path}: ${text}`);
    assert.match((JSON.parse(text) as { error: string }).error, named, path);
  }
  assert.equal((await browser.get("keys")).status, 200);
  const check = await service.post("/api/email", "email=jo@mailinator.com", auth);
  assert.equal(check.status, 200);
  const decision = await service.post("/api/decide", "email=jo@mailinator.com", auth);
  assert.equal((JSON.parse(decision.body) as { decision: string }).decision, "reject");
  const ready = await service.get("/readyz");
  assert.match(ready.body, /"Not ready: disk\b/);
  assert.doesNotMatch(service.log(), /http\.request_failed/);
  rmSync(filler);
  await until(async () => (await service.post("/api/feedback", report, auth)).status === 200);
});

const starts: readonly (readonly [what: string, spoil: (home: Home) => void, says: RegExp])[] = [
  [
    "an empty database beside secret.key",
    ({ directory }) => truncateSync(join(directory, "gatepost.db")),
    /secret\.key is there, but gatepost\.db is missing or empty.*Restore a back-up/,
  ],
  [
    "no database beside secret.key",
    ({ directory }) => rmSync(join(directory, "gatepost.db")),
    /secret\.key is there, but gatepost\.db is missing or empty.*Restore a back-up/,
  ],
];

for (const [what, spoil, says] of starts) {
  test(`a start with ${what} is refused in words`, async () => {
    const home = makeHome(NO_DNS);
    const service = await startService(home);
    await service.stop();
    spoil(home);
    const { code, err } = gatepost(home, ["serve"]);
    assert.equal(code, 3);
    assert.match(err, says);
    assert.doesNotMatch(err, /Set up this installation/);
    home.remove();
  });
}

test("a start on a read-only file system says so", async (t) => {
  const { home, disk } = homeOn(t, "size=64m") ?? {};
  if (home === undefined || disk === undefined) return;
  const asked = (): string => gatepost(home, ["serve"]).err;
  disk.remount("ro");
  assert.match(asked(), /its file system is read-only/);
  disk.remount("rw");
  await (await startService(home)).stop();
  disk.remount("ro");
  assert.match(asked(), /its file system is read-only/);
});

for (const [setting, says] of [
  ["postgres://a:b@127.0.0.1:1/c?sslmode=on", /DATABASE_URL: sslmode must be one of .*, not "on"/],
] as const) {
  test(`a start with ${setting} says what is wrong`, () => {
    const key = Buffer.alloc(32, 7).toString("base64");
    const home = makeHome({ DATABASE_URL: setting, GATEPOST_SECRET_KEY: key });
    const { code, err } = gatepost(home, ["serve"]);
    assert.equal(code, 3);
    assert.match(err, says);
    home.remove();
  });
}

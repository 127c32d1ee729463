import { strict as assert } from "node:assert";
import { request as ask } from "node:http";
import { after, suite, test } from "node:test";
import { DEFAULT_TIERS } from "../../src/accounts/admission/tiers.ts";
import { until } from "../time/until.ts";
import { readDocument, tableUnder } from "../guards/docs-tables.ts";
import { type Answered, readError, readResult } from "../http/strict-client.ts";
import { gatepost, type Home, type ServiceProcess } from "./service-process.ts";
import { type Account, createAccount, serviceWorld } from "./service-world.ts";

/** "```http" and the "```json" that answers it, as docs/api.md shows them. */
function examples(): readonly { readonly request: string; readonly answer: string }[] {
  const pairs = readDocument("docs/api.md").matchAll(/```http\n([^`]+)```\n+```json\n([^`]+)```/g);
  return [...pairs].map((match) => ({ request: match[1] ?? "", answer: match[2] ?? "" }));
}

async function send(service: ServiceProcess, request: string): Promise<Answered> {
  const [head = "", body = ""] = request.trim().split("\n\n");
  const [method = "", path = ""] = (head.split("\n")[0] ?? "").split(" ");
  return method === "POST" ? service.post(path, body) : service.get(path);
}

/** With a Host of its own, which `fetch` does not send. */
function statusAt({ url }: ServiceProcess, path: string, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = ask(`${url}${path}`, { headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    asked.on("error", reject).end();
  });
}

/** Each poll is a request, and a plan has a rate. */
const LOOKING = { everyMs: 200 };

suite("the service as a user runs it: real processes, real DNS on loopback", () => {
  let home: Home;
  let service: ServiceProcess;
  serviceWorld({
    settings: { GATEPOST_PUBLIC_URL: "https://gatepost.example" },
    begin: (world) => void ({ home, service } = world),
  });

  after(async () => {
    assert.equal(await service.stop(), 0, "SIGTERM ends it with 0");
    assert.match(service.log(), /"msg":"server\.stopped"/);
  });

  const account = (email: string, ...words: string[]): Account => createAccount(home, email, words);

  test("the examples of docs/api.md get the answers shown", async () => {
    assert.ok(examples().length >= 3);
    for (const { request, answer } of examples()) {
      const given = await send(service, request);
      assert.equal(given.status, 200, request);
      const body = given.body.replace(/"session":"[0-9a-f]{32}"/, '"session":"SESSION"');
      assert.equal(body, JSON.stringify(JSON.parse(answer)), request);
    }
  });

  test("docs/api.md lists every route and tier correctly", async () => {
    const { paths } = JSON.parse((await service.get("/openapi.json")).body) as {
      readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
    };
    const methods = (operations: object): string =>
      ["GET", "PUT", "POST", "DELETE"]
        .filter((name) => name.toLowerCase() in operations)
        .join(", ");
    // The bare path has two media types under one status, which generators do not take: /download describes its GET.
    const allMethods = (path: string, item: object): string =>
      path === "/api/view/{session}" ? `GET, ${methods(item)}` : methods(item);
    // An operation stands once in the description, though the path takes POST as well.
    const alsoPost = (path: string): boolean => /^\/api\/(?:email|domain|view)\/\{/.test(path);
    const want = Object.entries(paths)
      .filter(([path]) => !path.startsWith("/account/")) // the dashboard's own, documented in /docs
      .map(([path, item]) => [
        alsoPost(path) ? allMethods(path, item).replace("GET", "GET, POST") : methods(item),
        `\`${path}\``,
      ]);
    const document = readDocument("docs/api.md");
    const rows = tableUnder(document, "## Routes")
      .map((row) => row.slice(0, 2))
      .filter(([, path = ""]) => !/^`\/(?:compat\/|llms)/.test(path)); // another service's words, and a text on /openapi.json
    const byPath = (a: readonly string[], b: readonly string[]): number =>
      (a[1] ?? "") < (b[1] ?? "") ? -1 : 1;
    assert.deepEqual([...rows].sort(byPath), want.sort(byPath));
    const number = (value: number | null): string => value?.toLocaleString("en") ?? "no limit";
    const tiers = Object.entries(DEFAULT_TIERS).map(([name, tier]) => [
      name,
      number(tier.ratePerMinute),
      number(tier.daily),
      number(tier.monthly),
      number(tier.bulkLimit),
      tier.premium ? "yes" : "no",
    ]);
    assert.deepEqual(tableUnder(document, "## Keys, rates, quotas"), tiers);
  });

  test("a key made while the service runs works at once and shows its plan's rate", async () => {
    const { api_key: key } = account("pro@good.example", "--tier", "pro");
    const answer = await service.get("/api/email/a@good.example", { "x-api-key": key });
    assert.equal(answer.headers["x-ratelimit-limit"], "500");
    assert.ok("spam_trap" in readResult(answer, "email"));
    const bearer = await service.get("/api/domain/good.example", {
      authorization: `Bearer ${key}`,
    });
    assert.equal(bearer.headers["x-ratelimit-remaining"], "498");
  });

  test("premium checks answer over real DNS, and other plans get an offer", async () => {
    const { api_key: key } = account("checks@good.example", "--tier", "pro");
    const form = "email=a@protected.example&features=spf,dmarc,smtp";
    const premium = readResult(
      await service.post("/api/email", form, { "x-api-key": key }),
      "email",
    );
    assert.deepEqual(premium["email_auth"], {
      spf: "hardfail",
      spf_record: "v=spf1 mx -all",
      dmarc: {
        policy: "reject",
        record: "v=DMARC1; p=reject; rua=mailto:d@protected.example",
        subdomain_policy: "reject",
        pct: 100,
        rua: "mailto:d@protected.example",
      },
    });
    assert.deepEqual(premium["unsupported_features"], ["smtp"]);
    const core = readResult(await service.get("/api/email/a@good.example/spf"), "email");
    assert.deepEqual(core["requires_upgrade"], ["spf"]);
  });

  test("a revoked key is refused soon", async () => {
    const { account_id: id, api_key: key } = account("gone@good.example", "--tier", "pro");
    const ask = (): Promise<Answered> =>
      service.get("/api/domain/good.example", { "x-api-key": key });
    assert.equal((await ask()).status, 200);
    const [{ id: keyId }] = JSON.parse(gatepost(home, ["key", "list", id, "--json"]).out) as [
      { id: string },
    ];
    assert.equal(gatepost(home, ["key", "revoke", keyId, "--yes"]).code, 0);
    const refused = await until(async () => {
      const answer = await ask();
      return answer.status === 200 ? undefined : answer;
    }, LOOKING);
    assert.equal(readError(refused, 401), "Invalid API key.");
  });

  test("a deny rule takes effect within seconds in checks, batches and explanations", async () => {
    const { api_key: key } = account("lists@good.example", "--tier", "pro");
    const denied = gatepost(home, ["lists", "deny", "web.example", "--note", "seen in abuse"]);
    assert.equal(denied.code, 0, denied.err);
    const ask = async (): Promise<unknown> =>
      readResult(await service.get("/api/email/a@web.example", { "x-api-key": key }), "email")[
        "disposable"
      ];
    await until(async () => (await ask()) === true, LOOKING);
    const batch = await service.post("/api/email", "bulk=1&email=b@web.example,c@good.example");
    assert.equal((JSON.parse(batch.body) as { disposable: number }).disposable, 1);
    const why = await service.get("/api/explain/a@web.example", { "x-api-key": key });
    assert.equal(why.status, 200, why.body);
    assert.match(why.body, /"signal":"blacklist_exact".*"by":"operator"/);
    assert.doesNotMatch(why.body, /seen in abuse/);
    assert.equal(gatepost(home, ["check", "a@web.example", "--json"]).code, 1);
    const list = gatepost(home, ["bulk", "-", "--format", "ndjson"], "d@web.example\n");
    assert.match(list.out, /"disposable":true/, list.err);
    assert.equal(readError(await service.get("/api/explain/x"), 401), "API key required.");
  });

  test("a start that cannot succeed says why and where to read on, and exits with 3", () => {
    const broken = gatepost({ ...home, settings: { ...home.settings, PORT: "http" } }, ["serve"]);
    assert.equal(broken.code, 3);
    assert.match(broken.err, /PORT: must be a whole number.*\nSee docs\S+#a-start-that-fails\n$/);
    assert.doesNotMatch(broken.err, /\n\s+at /);
  });

  test("a site whose name was pointed at this machine reads neither the dashboard nor the metrics", async () => {
    for (const path of ["/account/session", "/metrics", "/", "/lists", "/setup", "/favicon.svg"]) {
      assert.equal(await statusAt(service, path, "rebound.example"), 403, path);
      for (const host of ["127.0.0.1", "localhost:8080", "gatepost.example"]) {
        assert.notEqual(await statusAt(service, path, host), 403, `${path} at ${host}`);
      }
    }
    assert.equal(await statusAt(service, "/healthz", "rebound.example"), 200);
  });
});

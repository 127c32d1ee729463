import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { gatepost, type Settings } from "../../e2e/service-process.ts";
import { createAccount, serviceWorld } from "../../e2e/service-world.ts";
import { childEnvironment } from "../../process/child-environment.ts";

const COMMAND = fileURLToPath(new URL("../../../../bin/gatepost.mjs", import.meta.url));

interface Told {
  readonly isError: boolean;
  readonly text: string;
  readonly structured: unknown;
}

/** An agent with the official client library. */
interface Agent {
  readonly client: Client;
  readonly call: (name: string, input: Record<string, unknown>) => Promise<Told>;
}

async function startAgent(settings: Settings, words: readonly string[] = []): Promise<Agent> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(childEnvironment(settings))) {
    if (value !== undefined) env[name] = value;
  }
  const client = new Client({ name: "test", version: "1.0.0" });
  const args = [COMMAND, "mcp", ...words];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env }));
  return {
    client,
    async call(name, input) {
      const told = await client.callTool({ name, arguments: input });
      const { isError = false, content, structuredContent: structured } = told;
      const [first] = content;
      const text = first?.type === "text" ? first.text : "";
      return { isError: isError === true, text, structured };
    },
  };
}

/** The answer, which is text too; the library holds it against the tool's output schema. */
function json({ text, structured }: Told): Record<string, unknown> {
  assert.deepEqual(JSON.parse(text), structured);
  return structured as Record<string, unknown>;
}

suite("gatepost mcp, called by the official client library", () => {
  let here: Agent;
  let there: Agent;
  const world = serviceWorld({
    async begin({ home, service, atEnd }) {
      const { api_key: key } = createAccount(home, "a@x.example");
      const start = async (...asked: Parameters<typeof startAgent>): Promise<Agent> => {
        const agent = await startAgent(...asked);
        atEnd(() => agent.client.close());
        return agent;
      };
      here = await start(home.settings);
      there = await start({ GATEPOST_API_KEY: key }, ["--server", service.url]);
    },
  });

  test("of all tools only a server's decide counts, and says so", async () => {
    const { tools } = await there.client.listTools();
    const hints = tools.map(({ annotations: { readOnlyHint, destructiveHint } = {} }) => [
      readOnlyHint,
      destructiveHint,
    ]);
    assert.deepEqual(hints, [
      [true, false],
      [false, false],
      [true, false],
      [true, false],
    ]);
  });

  for (const agent of [() => here, () => there]) {
    test("decide speaks the person's language, and an unknown argument is named", async () => {
      const asked = { email: "jo@null.example", language: "fr;q=0.4, de-AT" };
      const { message } = json(await agent().call("decide", asked));
      assert.match(String(message), /^Bitte|E-Mail|Adresse/);
      const typo = agent().client.callTool({ name: "check", arguments: { enty: "x" } });
      const refused = await typo.then((told) => JSON.stringify(told), String);
      assert.match(refused, /enty.* is no argument; the tool takes entry, features/);
    });
  }

  test("the tools say what they do, and that none changes anything", async () => {
    const { tools } = await here.client.listTools();
    assert.deepEqual(
      tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint]),
      [
        ["check", true],
        ["decide", true],
        ["check_list", true],
        ["explain", true],
      ],
    );
    for (const { description = "", inputSchema, outputSchema } of tools) {
      assert.ok(description.length > 40);
      assert.deepEqual([inputSchema.type, outputSchema?.["type"]], ["object", "object"]);
    }
  });

  for (const [where, agent] of [
    ["in this process", () => here],
    ["by a server", () => there],
  ] as const) {
    test(`${where}: every reading tool gives the API's answer`, async () => {
      const { call } = agent();
      const checked = json(await call("check", { entry: "jo@good.example", features: ["spf"] }));
      assert.deepEqual([checked["dns"], checked["mx_info"]], [true, ["mx1.mail.example"]]);
      assert.ok("email_auth" in checked);
      const silent = json(await call("check", { entry: "silent.example" }));
      assert.deepEqual(silent["signals"], ["dns_indeterminate"]);
      const decided = json(await call("decide", { email: "jo@null.example" }));
      assert.deepEqual([decided["decision"], decided["reason"]], ["reject", "no_mail_server"]);
      const explained = json(await call("explain", { entry: "jo@null.example" }));
      assert.ok(Array.isArray(explained["explanation"]));
      const entries = ["jo@good.example", "null.example", "broken@", "jo@good.example"];
      const counts = { valid: 1, disposable: 0, invalid_dns: 1, invalid_format: 1, unknown: 0 };
      const short = json(await call("check_list", { entries }));
      assert.deepEqual(short["counts"], counts);
      assert.deepEqual(Object.keys(short["results"] as object), ["null.example", "broken@"]);
      const long = json(await call("check_list", { entries, all: true }));
      assert.deepEqual(long["counts"], counts);
      const results = long["results"] as Record<string, { format: boolean; dns: boolean }>;
      assert.deepEqual(
        Object.entries(results).map(([entry, { format, dns }]) => [entry, format, dns]),
        [
          ["jo@good.example", true, true],
          ["null.example", true, false],
          ["broken@", false, false],
        ],
      );
    });
  }

  test("a server's decide counts by who asks; without a server nothing is counted", async () => {
    const decided = async ({ call }: Agent, name: string) => {
      const count_by = { ip: "203.0.113.7", coupon: "WELCOME" };
      return json(await call("decide", { email: `${name}@good.example`, count_by }))["counts"];
    };
    const counts = (day: number) => {
      const one = { "10m": day, day, "30d": day };
      return { ip: one, net: one, coupon: one };
    };
    assert.deepEqual(await decided(there, "ann"), counts(0));
    assert.deepEqual(await decided(there, "ben"), counts(1));
    assert.equal(await decided(here, "ann"), undefined);
    for (const [count_by, words] of [
      [{ ip: "203.0.113" }, /count_by\.ip must be an IPv4 or IPv6 address/],
      [{ net: "203.0.113.0" }, /count_by must be an object of at most 3 names/],
    ] as const) {
      const { isError, text } = await there.call("decide", { email: "jo@good.example", count_by });
      assert.equal(isError, true);
      assert.match(text, words);
    }
  });

  test("input beyond the limits is refused in words", async () => {
    const entries = Array.from({ length: 101 }, (_, at) => `a${String(at)}@good.example`);
    const refused = await here.client
      .callTool({ name: "check_list", arguments: { entries } })
      .then(
        ({ isError, content: [first] }) =>
          `${String(isError)} ${first?.type === "text" ? first.text : ""}`,
        String,
      );
    assert.match(refused, /entries/);
    assert.match(refused, /100/);
    const policy = await here.call("decide", { email: "a@b.example", policy: "strict" });
    assert.deepEqual(
      [policy.isError, policy.text],
      [true, 'Without a server only the policy "default" exists.'],
    );
  });

  test("a server that is away is named", async () => {
    const lost = await startAgent({}, ["--server", "http://127.0.0.1:9"]);
    const { isError, text } = await lost.call("check", { entry: "good.example" });
    await lost.client.close();
    assert.equal(isError, true);
    assert.match(text, /^The server at http:\/\/127\.0\.0\.1:9 did not answer\./);
  });

  test("an address that is no URL is refused", () => {
    const { code, err } = gatepost(world.home, ["mcp", "--server", "gatepost.example"]);
    assert.equal(code, 2);
    assert.match(err, /--server: "gatepost\.example" is not an http or https URL/);
  });

  /** What the command writes for these lines and the end of input, after the greeting. */
  const said = (version: string, ...lines: readonly unknown[]): readonly unknown[] => {
    const params = {
      protocolVersion: version,
      capabilities: {},
      clientInfo: { name: "a", version: "1" },
    };
    const greeting = [
      { jsonrpc: "2.0", id: 1, method: "initialize", params },
      { jsonrpc: "2.0", method: "notifications/initialized" },
    ];
    const input = [...greeting, ...lines].map((line) => `${JSON.stringify(line)}\n`).join("");
    const { code, out } = gatepost(world.home, ["mcp"], input);
    const [hello, ...rest] = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown);
    assert.equal(code, 0);
    assert.equal((hello as { result: typeof params }).result.protocolVersion, version);
    return rest;
  };
  const call = (id: number, name: string, input: object, more: object = {}) => ({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name, arguments: input, ...more },
  });

  test("requests that are open when the input ends are answered", () => {
    const entry = { entry: "jo@null.example" };
    const ping = { jsonrpc: "2.0", id: 3, method: "ping" };
    const told = said("2025-03-26", call(2, "check", entry), ping) as { id: number }[];
    assert.deepEqual(new Set(told.map(({ id }) => id)), new Set([2, 3]));
  });

  test("a list says how far it is", () => {
    const entries = Array.from({ length: 41 }, (_, at) => `a${String(at)}@good.example`);
    const asked = call(2, "check_list", { entries }, { _meta: { progressToken: 7 } });
    const told = said("2025-06-18", asked) as { params?: unknown }[];
    const steps = [0, 20, 40, 41].map((progress) => ({ progressToken: 7, progress, total: 41 }));
    assert.deepEqual(
      told.map(({ params }) => params),
      [...steps, undefined],
    );
  });

  test("the command ends with standard input", () => {
    const { code, out } = gatepost(world.home, ["mcp"], "");
    assert.deepEqual([code, out], [0, ""]);
  });
});

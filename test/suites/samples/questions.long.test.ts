import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { gatepost } from "../../e2e/service-process.ts";
import { createAccount, serviceWorld } from "../../e2e/service-world.ts";
import { readDocument } from "../../guards/docs-tables.ts";
import { temporaryFolder } from "../../process/temporary-folder.ts";
import { pageBlocks } from "./guide-blocks.ts";

const PAGE = "docs/README.md";
const EMAIL = "jo@shop.example";

interface StoredPolicy {
  readonly rules: readonly { readonly when: object }[];
}

suite("the questions of docs/README.md do what they say on a running service", () => {
  let folder = "";
  const world = serviceWorld({
    tiers: JSON.parse(pageBlocks("docs/configuration.md", "json")[0] ?? "") as unknown,
    begin: ({ home }) => {
      createAccount(home, EMAIL, ["--tier", "free"]);
      folder = temporaryFolder();
    },
  });

  /** Runs the commands of a section, each with what it prints. */
  function ran(heading: string, ...entries: readonly string[]): ReadonlyMap<string, string> {
    const [block = assert.fail(heading)] = pageBlocks(PAGE, "sh", heading);
    const lines = block.split("\n").map((line) => line.replace(/ +# .*$/, "").trim());
    const said = new Map<string, string>();
    for (const line of lines.filter((one) => one.startsWith("gatepost "))) {
      const [command = "", file] = line.replace("ACCOUNT", EMAIL).split(" > ");
      const words = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(
        ([, quoted, word]) => quoted ?? word ?? "",
      );
      const named = words
        .slice(1)
        .map((word) => (word.endsWith(".json") ? join(folder, word) : word));
      const { out, err, code } = gatepost(world.home, [...named, ...entries]);
      assert.notEqual(code, 2, `${line}: ${err}`);
      if (file !== undefined) writeFileSync(join(folder, file), out);
      said.set(line, out);
    }
    return said;
  }

  const tested = (email: string): string =>
    gatepost(world.home, ["policy", "test", EMAIL, email]).out.split(" ", 1)[0] ?? "";

  test("why was my customer refused", () => {
    const [decided, explained] = [...ran("## Why was my customer refused").values()];
    assert.match(decided ?? "", /jo@new\.example/);
    assert.match(explained ?? "", /domain +new\.example/);
  });

  test("allow one domain, this address alone, and take it back", () => {
    assert.equal(gatepost(world.home, ["lists", "deny", "*.customer.example"]).code, 0);
    assert.equal(tested("jo@eu.customer.example"), "reject");
    gatepost(world.home, ["lists", "allow", "*.customer.example"]);
    assert.equal(tested("jo@eu.customer.example"), "accept");
    const said = [...ran("## Allow one domain").values()].map((text) => text.trim());
    assert.equal(said[0], "allow customer.example");
    assert.match(said[1] ?? "", /^allow /);
    assert.equal(said[2], "forgotten");
    assert.equal(tested("jo@customer.example"), "accept", "the address is allowed yet");
  });

  for (const [heading, refused, passed] of [
    ["## Block plus addresses", "jo+shop@gmail.com", "jo@gmail.com"],
    ["## Business mail only", "jo@gmail.com", "jo@good.example"],
  ] as const) {
    test(`${heading.slice(3)}, with a message, behind what the operator allows`, () => {
      const [rule = assert.fail("no rule")] = pageBlocks(PAGE, "json", heading);
      const file = join(folder, "policy.json");
      gatepost(world.home, ["policy", "remove", EMAIL, "default", "--yes"]);
      writeFileSync(file, gatepost(world.home, ["policy", "show", EMAIL, "default"]).out);
      const policy = JSON.parse(readFileSync(file, "utf8")) as StoredPolicy;
      const behind = policy.rules.findIndex(({ when }) => "allowed" in when) + 1;
      assert.ok(behind > 0);
      const added = JSON.parse(rule) as StoredPolicy["rules"][number] & {
        readonly message: { readonly en: string };
      };
      const rules = policy.rules.toSpliced(behind, 0, added);
      writeFileSync(file, JSON.stringify({ ...policy, rules }));
      assert.equal(gatepost(world.home, ["policy", "set", EMAIL, file]).code, 0);
      const { out } = gatepost(world.home, ["policy", "test", EMAIL, refused, passed]);
      assert.match(out, new RegExp(`^reject +${refused.replace("+", "\\+")} `, "m"));
      assert.ok(out.includes(added.message.en), out);
      assert.doesNotMatch(out, new RegExp(`^reject +${passed} `, "m"));
    });
  }

  test("stop asking about typos", () => {
    gatepost(world.home, ["policy", "remove", EMAIL, "default", "--yes"]);
    assert.match(gatepost(world.home, ["policy", "test", EMAIL, "jo@gmaik.com"]).out, /^challenge/);
    const file = join(folder, "policy.json");
    ran("## Stop asking about typos");
    const [rule = assert.fail("no rule")] =
      /\{ "when": .*? \}(?=`)/.exec(
        readDocument(PAGE).split("## Stop asking about typos")[1] ?? "",
      ) ?? [];
    const { rules, ...policy } = JSON.parse(readFileSync(file, "utf8")) as StoredPolicy;
    const others = rules.filter((one) => !isDeepStrictEqual(one, JSON.parse(rule)));
    assert.equal(others.length, rules.length - 1, "the page names a rule of the policy");
    writeFileSync(file, JSON.stringify({ ...policy, rules: others }));
    assert.equal(gatepost(world.home, ["policy", "set", EMAIL, file]).code, 0);
    assert.match(gatepost(world.home, ["policy", "test", EMAIL, "jo@gmaik.com"]).out, /^accept/);
  });

  test("block one domain", () => {
    const said = [...ran("## Block one domain").values()].map((text) => text.trim());
    assert.equal(said[0], "deny bad.example");
    assert.equal(tested("jo@bad.example"), "reject");
  });

  test("raise one account's limit, see it, and go back to the plan's numbers", () => {
    const said = [...ran("## Raise one account's limit").values()];
    const own = /rate_per_minute +1000\s+daily +none/;
    assert.match(said[0] ?? "", own);
    assert.match(said[1] ?? "", own);
    assert.match(said[2] ?? "", /plan's numbers/);
  });

  test("GATEPOST_TIERS_FILE as docs/configuration.md shows it", async () => {
    const { status, body } = await world.service.post("/api/email", "email=jo@good.example");
    assert.deepEqual(
      [status, (JSON.parse(body) as { error: string }).error],
      [429, "Daily quota exceeded."],
    );
  });
});

/** What people type who search the pages. */
const SEARCHES = [
  "GDPR",
  "catch-all",
  "musl",
  "Alpine",
  "ARM",
  "arm64",
  "macOS",
  "phpBB",
  "Drupal",
  "Moodle",
  "Nuxt",
  "offline",
  "high availability",
  "uninstall",
  "stop asking about typos",
  "listen on the LAN",
  "block a domain",
  "raise the limit without a key",
  "prove that a mailbox exists",
  "multi-core",
  "smarthost",
  "same as after success",
  "forgot the administrator's password",
];

for (const search of SEARCHES) {
  test(`docs/README.md has an answer for "${search}"`, () => {
    const rows = [...readDocument("docs/README.md").matchAll(/^\|([^|]+)\|([^|]+)\|$/gm)];
    const row = rows.find(([, question = ""]) => question.includes(search));
    assert.ok((row?.[2] ?? "").length > 1);
  });
}

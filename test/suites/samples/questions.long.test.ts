import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { gatepost } from "../../e2e/service-process.ts";
import { createAccount, serviceWorld } from "../../e2e/service-world.ts";
import { readDocument } from "../../guards/docs-tables.ts";
import { temporaryFolder } from "../../process/temporary-folder.ts";
import { pageBlocks } from "./guide-blocks.ts";

const PAGE = "docs/questions.md";
const EMAIL = "jo@shop.example";

interface StoredPolicy {
  readonly rules: readonly { readonly when: object }[];
}

suite("docs/questions.md does what it says on a running service", () => {
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

/** Words of a question that its heading need not have. */
const SMALL = /^(?:why|was|my|how|do|i|a|is|the|of|what|it|and|get|run|take|come)$/;

const wordsIn = (text: string): readonly string[] =>
  text
    .toLowerCase()
    .match(/[a-z_]+/g)
    ?.filter((word) => !SMALL.test(word)) ?? [];

test("docs/README.md leads each question to a heading in its own words", () => {
  const rows = readDocument("docs/README.md").matchAll(
    /^\|([^|]*\?)\|\[[^\]]*\]\(([^)#]*)#?([^)]*)\)\|$/gm,
  );
  const questions = [...rows];
  assert.ok(questions.length >= 10);
  for (const [, question = "", page = "", anchor = ""] of questions) {
    const [title = ""] = readDocument(`docs/${page}`).split("\n", 1);
    const heading = wordsIn(`${anchor.replaceAll("-", " ")} ${anchor === "" ? title : ""}`);
    const found = wordsIn(question).filter((word) =>
      heading.some((one) => one.startsWith(word.slice(0, 4))),
    );
    assert.ok(found.length * 2 >= wordsIn(question).length, `${question} ${heading.join(" ")}`);
  }
});

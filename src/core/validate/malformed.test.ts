import { strict as assert } from "node:assert";
import { test } from "node:test";
import { readEntry } from "../address/address.ts";
import { LANGUAGES, messageFor } from "../policy/messages.ts";
import { formatProblem } from "./malformed.ts";

const CASES: readonly (readonly [text: string, code: string, meant?: string])[] = [
  ["jo\uff20good.test", "wide_at", "jo@good.test"],
  ["mailto:jo@good.test", "mailto", "jo@good.test"],
  ["mailto:jo@good.test?subject=Hi", "mailto", "jo@good.test"],
  ["<jo@good.test>", "in_brackets", "jo@good.test"],
  ["Jo Ash <jo@good.test>", "in_brackets", "jo@good.test"],
  ["(jo@good.test)", "in_brackets", "jo@good.test"],
  ["<mailto:jo@good.test>", "in_brackets", "jo@good.test"],
  ["jo@good.test.", "domain_dot_end", "jo@good.test"],
  ["jo@good.test,", "mark_at_end", "jo@good.test"],
  ["jo@@good.test", "two_ats", "jo@good.test"],
  ["jo@good@good.test", "two_ats"],
  ["jo@good..test", "domain_dots", "jo@good.test"],
  ["jo@gmail,com", "comma_for_dot", "jo@gmail.com"],
  ["jo@gmail,con", "comma_for_dot", "jo@gmail.com"],
  ["jo%40gmail.com", "percent_at", "jo@gmail.com"],
  ["jo%40good.test", "percent_at", "jo@good.test"],
  ["jo#gmail.com", "no_at"],
  ["jo#web.de", "no_at"],
  ["jogmail.com", "lost_at", "jo@gmail.com"],
  ["jo@gmail.com,com", "comma_for_dot", "jo@gmail.com"],
  ["jo@gmail.com,an", "comma_for_dot", "jo@gmail.com"],
  ["jo@yahoo.com,br", "comma_for_dot", "jo@yahoo.com.br"],
  ["jo@good.com,br", "comma_for_dot", "jo@good.com.br"],
  ["jo@good,com", "comma_for_dot", "jo@good.com"],
  ["jo@good.org,an", "domain_char"],
  ["jo@good.org,com", "domain_char"],
  ["jo@gmail", "dotless", "jo@gmail.com"],
  ["jo@Orange", "dotless", "jo@orange.fr"],
  ["jo@mail", "dotless"],
  ["jo=@gmail", "dotless"],
  ["jo(at)good.test", "lost_at", "jo@good.test"],
  ["\u201cjo@good.test\u201d", "curly_quote", "jo@good.test"],
  ["\uff4ao\uff20good.test", "wide_at", "jo@good.test"],
  ["jo @ good.test", "blank", "jo@good.test"],
  ["jo@go\u00adod.test", "invisible", "jo@good.test"],
  ["jo..ash@good.test", "dot_dot"],
  ["jo ash@good.test", "local_char"],
  ["jo@[192.0.2.1]", "literal"],
  ["@good.test", "no_local"],
  ["jo@", "no_domain"],
  ["jo@localhost", "dotless"],
  [`${"j".repeat(65)}@good.test`, "local_length"],
  [`jo@${"gmail.".repeat(100_000)}`, "length"],
];

for (const [text, code, meant] of CASES) {
  test(`a malformed address has a sentence of its own: ${text.slice(0, 30)}`, () => {
    const entry = readEntry(text, "address");
    assert.ok(entry.kind === "malformed");
    const problem = formatProblem(text, "address", entry.fault);
    assert.deepEqual([problem.code, problem.meant], [code, meant]);
    assert.match(problem.message, /^[A-Z].*\.$/);
    const outcome = { decision: "reject", reason: "format" } as const;
    const said = LANGUAGES.map((language) => messageFor(outcome, { language, meant, problem }));
    assert.equal(new Set(said).size, LANGUAGES.length);
    for (const sentence of said) {
      assert.ok(meant === undefined || sentence?.includes(meant));
      assert.doesNotMatch(sentence ?? "", /name@example\.com/, "the general sentence");
    }
  });
}

test("a domain that is a web address is told so", () => {
  const problem = formatProblem("https://good.test/page?x=1", "domain", "domain_char");
  assert.deepEqual([problem.code, problem.meant], ["url", "good.test"]);
});

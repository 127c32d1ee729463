import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type LiteralKnowledge, literalDatasets } from "../../../test/lists/literal-datasets.ts";
import { accountEvidence } from "../validate/validate.ts";
import { parseAddress } from "../address/address.ts";
import { effort } from "../../../test/process/effort.ts";

type Case = readonly [
  name: string,
  address: string,
  want: readonly string[],
  known?: LiteralKnowledge,
];

const said = (word: "allow" | "deny" | "account"): LiteralKnowledge => ({
  addresses: { "mfpstmp@gmail.com": word },
});

const CASES: readonly Case[] = [
  ["an ordinary address", "joe.smith@gmail.com", []],
  ["a generator's mailbox with a detail", "mfpstmp+kjort@gmail.com", ["disposable_account 0.85"]],
  ["upper case hides nothing", "MfpsTmp+Kjort@GoogleMail.com", ["disposable_account 0.85"]],
  ["dots hide nothing", "mfp.st.mp+kjort@gmail.com", ["disposable_account 0.85"]],
  ["without a detail it is anybody's", "mfpstmp@gmail.com", []],
  ["a detail of two letters is too short", "mfpstmp+kj@gmail.com", []],
  ["a mailbox of four letters is too short", "atmp+kjort@gmail.com", []],
  ["a digit in the mailbox is another pattern", "mfps1tmp+kjort@gmail.com", []],
  ["elsewhere the pattern says nothing", "mfpstmp+kjort@shop.example", []],
  ["quotes hide nothing", '"mfps\\tmp+kjort"@gmail.com', ["disposable_account 0.85"]],
  ["dots scattered over a short name", "j.o.h.n.d.oe@gmail.com", ["dot_scatter 0.3"]],
  ["scattered before the detail", "j.o.h.n.d.oe+x@gmail.com", ["dot_scatter 0.3"]],
  ["both at once", "a.b.c.d.tmp+kjort@gmail.com", ["disposable_account 0.85", "dot_scatter 0.3"]],
  ["three dots are not many", "j.r.r.tolkien@gmail.com", []],
  ["four dots between words", "anna.maria.von.der.heide@gmail.com", []],
  ["two and a half letters a piece", "ab.ab.abc.abc.abc@gmail.com", []],
  ["exactly two and a half", "ab.ab.ab.ab.ab.abcde@gmail.com", ["dot_scatter 0.3"]],
  ["dots in the detail do not count", "joe+a.b.c.d.e.f@gmail.com", []],
  ["dots elsewhere are letters", "j.o.h.n.d.oe@shop.example", []],
  ["signs alone at Gmail", "===@gmail.com", ["typo_local_part 0"]],
  ["a hyphen at Gmail", "jo-doe@gmail.com", ["typo_local_part 0"]],
  ["an umlaut at Gmail", "jö@googlemail.com", ["typo_local_part 0"]],
  ["a plus in front at Gmail", "+x@gmail.com", ["typo_local_part 0"]],
  ["any character in a detail", "jo+a_b=c@gmail.com", []],
  ["lengths do not count", "a@gmail.com", []],
  ["quotes that are not needed", '"j\\o.doe"@gmail.com', []],
  ["a blank in quotes", '"jo doe"@gmail.com', ["typo_local_part 0"]],
  ["a hyphen and an underscore at Microsoft", "j_o-d.oe@hotmail.co.uk", []],
  ["an apostrophe at Microsoft", "o'brien@outlook.com", ["typo_local_part 0"]],
  ["a keyword at Yahoo", "jo-shop@yahoo.com", []],
  ["a slash at Yahoo", "jo/doe@yahoo.fr", ["typo_local_part 0"]],
  ["a hidden address at Apple", "dpd-cnf87_nu.0x@icloud.com", []],
  ["an ampersand at Apple", "jo&co@mac.com", ["typo_local_part 0"]],
  ["an apostrophe where customers name themselves", "o'brien@shop.example", []],
  ["a sub-domain is another's", "o'brien@x.gmail.com", []],
  ["a known account", "m.fpstmp+x@googlemail.com", ["disposable_account 1"], said("account")],
  ["a denied address", "mfpstmp@gmail.com", ["disposable_account 1"], said("deny")],
  ["a denied address in quotes", '"mfps\\tmp"@gmail.com', ["disposable_account 1"], said("deny")],
  ["an allowed address", "m.f.p.s.tmp+kjort@gmail.com", ["operator_allow 0"], said("allow")],
];

for (const [name, address, want, known] of CASES) {
  test(`account: ${name}`, () => {
    const parsed = parseAddress(address);
    assert.ok(parsed.ok);
    const found = accountEvidence(parsed.value, literalDatasets(known));
    assert.deepEqual(
      found.map(({ signal, weight }) => `${signal} ${String(weight)}`),
      want,
    );
  });
}

test("account evidence never throws, for 20,000 Gmail addresses", () => {
  const datasets = literalDatasets();
  const local = fc.oneof(
    fc.string({ minLength: 1, maxLength: 64, unit: "grapheme" }),
    fc.stringMatching(/^[a-z]{0,5}(\.[a-z]{1,3}){0,12}(tmp)?(\+[a-z0-9.]{0,9})?$/),
  );
  fc.assert(
    fc.property(local, (left) => {
      const parsed = parseAddress(`${left}@gmail.com`);
      if (parsed.ok) assert.ok(accountEvidence(parsed.value, datasets).length <= 3);
    }),
    { numRuns: effort(3_000, 20_000) },
  );
});

import { strict as assert } from "node:assert";
import { test } from "node:test";
import { toASCII } from "tr46";
import { aLabels } from "./domain.ts";

const samples = [
  ["Chinese (RFC 3492 section 7.1 B)", "他们为什么不说中文", "ihqwcrb4cv8a8dqg056pqjye"],
  ["Czech (D)", "pročprostěnemluvíčesky", "proprostnemluvesky-uyb24dma41a"],
  [
    "Japanese (G)",
    "なぜみんな日本語を話してくれないのか",
    "n8jok5ay5dzabd5bym9f0cm5685rrjetr6pdxa",
  ],
  ["ASCII beside kanji (L)", "3年b組金八先生", "3b-ww4c5e180e575a65lsy2b"],
] as const;

for (const [name, text, code] of samples) {
  test(`Punycode: ${name}`, () => {
    assert.equal(aLabels(`${text}.example`), `xn--${code}.example`);
    assert.equal(aLabels(`xn--${code}.example`), `xn--${code}.example`);
  });
}

for (const text of ["", "-", "é", "99999999", "a-"]) {
  test(`Punycode never throws: "${text}"`, () => {
    assert.doesNotThrow(() => aLabels(`xn--${text}.example`));
  });
}

const names = [
  ["simple characters", "例え.テスト", "xn--r8jz45g.xn--zckzah"],
  ["upper case", "BÜCHER.example", "xn--bcher-kva.example"],
  ["an A-label as it is", "xn--bcher-kva.example", "xn--bcher-kva.example"],
  ["an A-label of ASCII is none", "xn--abc-.example", undefined],
  ["an A-label that is not canonical", "xn--bcher-KVA.example", "xn--bcher-kva.example"],
  ["ASCII with hyphens beside a U-label", "r3---x.bücher.example", "r3---x.xn--bcher-kva.example"],
  ["hyphens in places 3 and 4 of a U-label", "bü--cher.example", undefined],
  ["a full-width hyphen at the end", "bücher－.example", undefined],
  ["an ideographic full stop", "bücher。example", "xn--bcher-kva.example"],
  ["a combining mark joins", "bu\u0308cher.example", "xn--bcher-kva.example"],
  ["Hangul letters join", "\u1112\u1161\u11ab.example", "xn--6q8b.example"],
  ["right to left beside left to right", "אa.example", undefined],
] as const;

for (const [name, text, want] of names) {
  test(`A-labels: ${name}`, () => {
    assert.equal(aLabels(text), want);
  });
}

test("A-labels are those of UTS-46 for every letter, alone and behind others", () => {
  const terms = {
    checkBidi: true,
    checkHyphens: true,
    checkJoiners: true,
    useSTD3ASCIIRules: true,
  };
  for (let code = 0x80; code < 0x3400; code += 1) {
    for (const name of [String.fromCodePoint(code), `a가か${String.fromCodePoint(code)}b`]) {
      if (/[\p{Cf}\ufe63\uff0d]/u.test(name)) continue; // refused before
      assert.equal(aLabels(name), toASCII(name, terms) ?? undefined, `U+${code.toString(16)}`);
    }
  }
});

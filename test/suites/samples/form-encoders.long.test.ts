import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { appWith } from "../../http/http-app.ts";
import { testWithTools } from "../../process/require-tool.ts";
import { inject } from "../../http/inject.ts";

/** Each prints one line for every pair of arguments: the form encoding of `name=value` in that language. */
const ENCODERS: Readonly<Record<string, readonly string[]>> = {
  php: [
    "-r",
    'for ($i = 1; $i < $argc; $i += 2) echo http_build_query([$argv[$i] => $argv[$i + 1]]), "\\n";',
    "--",
  ],
  python3: [
    "-c",
    "import sys, urllib.parse as u\nfor n, v in zip(sys.argv[1::2], sys.argv[2::2]): print(u.urlencode({n: v}))",
  ],
  ruby: ["-ruri", "-e", "ARGV.each_slice(2) { |n, v| puts URI.encode_www_form(n => v) }"],
};

/** The parameter, the typed text, and what must be checked. */
const CASES = [
  ["email", "user@good.example", "user@good.example"],
  ["email", "user@good.example ", "user@good.example "],
  ["email", " user@good.example", "+user@good.example"],
  ["email", "user+tag@good.example", "user+tag@good.example"],
  ["email", "+user@good.example", "+user@good.example"],
  ["email", "jörg@bücher.example ", "jörg@bücher.example "],
  ["domain", " good.example ", " good.example "],
] as const;

const HEADERS = { "content-type": "application/x-www-form-urlencoded" };

async function checkAll(forms: readonly string[]): Promise<void> {
  const app = appWith();
  for (const [at, [name, , want]] of CASES.entries()) {
    const form = forms[at] ?? "";
    const post = { method: "POST", url: `/api/${name}`, headers: HEADERS, payload: form } as const;
    for (const request of [post, { method: "GET", url: `/api/${name}?${form}` } as const]) {
      const { mx_info: echo } = (await inject(app, request)).json<{ mx_info: string[] }>();
      assert.equal(echo[0], want, `${request.method} ${form}`);
    }
  }
}

for (const [program, args] of Object.entries(ENCODERS)) {
  testWithTools([program], `a trailing blank as ${program} encodes it is a blank`, () => {
    const pairs = CASES.flatMap(([name, typed]) => [name, typed]);
    const lines = execFileSync(program, [...args, ...pairs], { encoding: "utf8" });
    return checkAll(lines.trim().split("\n"));
  });
}

test("a trailing blank as fetch encodes it is a blank", () =>
  checkAll(CASES.map(([name, typed]) => new URLSearchParams({ [name]: typed }).toString())));

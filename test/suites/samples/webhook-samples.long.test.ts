import { strict as assert } from "node:assert";
import { test } from "node:test";
import { sign, verifySignature } from "../../../src/webhooks/verify.ts";
import { type Driver, testSamples } from "./samples.ts";

interface Case {
  readonly body: Uint8Array;
  /** Undefined: the header is missing. */
  readonly header: string | undefined;
  readonly secret: string;
}

function cases(): readonly Case[] {
  const secret = "0123456789abcdef".repeat(4);
  const text = (value: string): Uint8Array => new TextEncoder().encode(value);
  const body = text('{"event":"test.ping"}');
  const header = sign(secret, body);
  const bodies = [body, text(""), text("ünï ☃\n"), Uint8Array.of(0, 255, 254, 10)];
  const headers = [
    undefined,
    "",
    header.toUpperCase(),
    `${header}\n`,
    ` ${header}`,
    header.slice(1),
    `${header}0`,
    `sha256=${header}`,
    "g".repeat(64),
    "0".repeat(64),
    `${header.slice(0, -1)}${header.endsWith("0") ? "1" : "0"}`,
    "é".repeat(32),
    `${header}\n${header}`,
  ];
  return [
    ...bodies.map((each) => ({ body: each, header: sign(secret, each), secret })),
    ...headers.map((other) => ({ body, header: other, secret })),
    { body, header, secret: "" },
    { body, header, secret: `${secret} ` },
    { body, header: sign("gehéim", body), secret: "gehéim" },
    { body: Uint8Array.of(...body, 10), header, secret },
  ];
}

/** One case a line for the drivers: body, header ("-" if missing) and secret, each in hex after "=". */
function line({ body, header, secret }: Case): string {
  const hex = (value: Uint8Array | string): string => `=${Buffer.from(value).toString("hex")}`;
  return [hex(body), header === undefined ? "-" : hex(header), hex(secret)].join(" ");
}

const DRIVERS: Readonly<Record<string, Driver>> = {
  typescript: (sample) => `import { readFileSync } from "node:fs";
${sample}
const octets = (field: string): Buffer => Buffer.from(field.slice(1), "hex");
for (const line of readFileSync(process.argv[2] ?? "", "utf8").split("\\n")) {
  const [body = "", header = "", secret = ""] = line.split(" ");
  const given = header === "-" ? undefined : octets(header).toString();
  console.log(verifySignature(octets(body), given, octets(secret).toString()));
}
`,
  python: (sample) => `${sample}
import sys
for line in open(sys.argv[1]).read().split("\\n"):
    body, header, secret = [None if field == "-" else bytes.fromhex(field[1:]) for field in line.split(" ")]
    given = None if header is None else header.decode()
    print("true" if verify_signature(body, given, secret.decode()) else "false")
`,
  php: (sample) => `<?php
declare(strict_types=1);
${sample}
foreach (explode("\\n", file_get_contents($argv[1])) as $line) {
    [$body, $header, $secret] = array_map(fn ($field) => $field === '-' ? null : hex2bin(substr($field, 1)), explode(' ', $line));
    echo verify_signature($body, $header, $secret) ? "true\\n" : "false\\n";
}
`,
  ruby: (sample) => `${sample}
File.read(ARGV[0]).split("\\n").each do |line|
  body, header, secret = line.split(" ").map { |field| field == "-" ? nil : [field[1..]].pack("H*") }
  puts verify_signature(body, header&.dup&.force_encoding("UTF-8"), secret)
end
`,
};

const TABLE = cases();

const WANT = TABLE.map(({ body, header, secret }) => String(verifySignature(body, header, secret)));

testSamples({
  page: "docs/webhooks.md",
  says: "says what verifySignature says",
  drivers: DRIVERS,
  cases: TABLE.map(line).join("\n"),
  want: WANT,
});

test("five cases are good", () => {
  assert.equal(WANT.filter((each) => each === "true").length, 5);
});

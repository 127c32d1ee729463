import { strict as assert } from "node:assert";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { sign } from "../../src/service/webhooks/sign.ts";
import { verifySignature } from "../../src/service/webhooks/verify.ts";
import { hasTool, testWith } from "../process/require-tool.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const run = promisify(execFile);

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

interface Language {
  readonly name: string;
  /** The language of the fenced block. */
  readonly mark: string;
  readonly tool: string;
  readonly versionFlag?: string;
  readonly file: string;
  /** Makes a program from the sample: it reads the file of cases named by its first argument, prints true or false. */
  readonly program: (sample: string) => string;
  readonly command: (folder: string) => readonly [string, ...string[]];
}

const LANGUAGES: readonly Language[] = [
  {
    name: "TypeScript",
    mark: "typescript",
    tool: "node",
    file: "sample.mts",
    program: (sample) => `import { readFileSync } from "node:fs";
${sample}
const octets = (field: string): Buffer => Buffer.from(field.slice(1), "hex");
for (const line of readFileSync(process.argv[2] ?? "", "utf8").split("\\n")) {
  const [body = "", header = "", secret = ""] = line.split(" ");
  const given = header === "-" ? undefined : octets(header).toString();
  console.log(verifySignature(octets(body), given, octets(secret).toString()));
}
`,
    command: (folder) => ["node", join(folder, "built", "sample.mjs")],
  },
  {
    name: "Python",
    mark: "python",
    tool: "python3",
    file: "sample.py",
    program: (sample) => `${sample}
import sys
for line in open(sys.argv[1]).read().split("\\n"):
    body, header, secret = [None if field == "-" else bytes.fromhex(field[1:]) for field in line.split(" ")]
    given = None if header is None else header.decode()
    print("true" if verify_signature(body, given, secret.decode()) else "false")
`,
    command: (folder) => ["python3", join(folder, "sample.py")],
  },
  {
    name: "PHP",
    mark: "php",
    tool: "php",
    file: "sample.php",
    program: (sample) => `<?php
declare(strict_types=1);
${sample}
foreach (explode("\\n", file_get_contents($argv[1])) as $line) {
    [$body, $header, $secret] = array_map(fn ($field) => $field === '-' ? null : hex2bin(substr($field, 1)), explode(' ', $line));
    echo verify_signature($body, $header, $secret) ? "true\\n" : "false\\n";
}
`,
    command: (folder) => ["php", join(folder, "sample.php")],
  },
  {
    name: "Go",
    mark: "go",
    tool: "go",
    versionFlag: "version",
    file: "sample.go",
    program: (sample) => `${sample.replace("import (", 'import (\n\t"fmt"\n\t"os"\n\t"strings"')}
func octets(field string) []byte {
	value, _ := hex.DecodeString(strings.TrimLeft(field, "=-"))
	return value
}

func main() {
	text, _ := os.ReadFile(os.Args[1])
	for _, line := range strings.Split(string(text), "\\n") {
		fields := strings.Split(line, " ")
		fmt.Println(verifySignature(octets(fields[0]), string(octets(fields[1])), string(octets(fields[2]))))
	}
}
`,
    command: (folder) => ["go", "run", join(folder, "sample.go")],
  },
  {
    name: "Ruby",
    mark: "ruby",
    tool: "ruby",
    file: "sample.rb",
    program: (sample) => `${sample}
File.read(ARGV[0]).split("\\n").each do |line|
  body, header, secret = line.split(" ").map { |field| field == "-" ? nil : [field[1..]].pack("H*") }
  puts verify_signature(body, header&.dup&.force_encoding("UTF-8"), secret)
end
`,
    command: (folder) => ["ruby", join(folder, "sample.rb")],
  },
];

async function sampleOf(mark: string): Promise<string> {
  const document = await readFile(join(root, "docs", "webhooks.md"), "utf8");
  const sample = new RegExp(`\`\`\`${mark}\\n([^]*?)\`\`\``).exec(document)?.[1];
  assert.ok(sample !== undefined, `docs/webhooks.md has no ${mark} sample`);
  return sample;
}

async function compileTypeScript(folder: string): Promise<void> {
  const types = ["--types", "node", "--typeRoots", join(root, "node_modules", "@types")];
  const options = [
    "--ignoreConfig",
    "--strict",
    "--module",
    "nodenext",
    "--target",
    "es2023",
    ...types,
  ];
  const built = ["--outDir", join(folder, "built"), join(folder, "sample.mts")];
  await run("node", [join(root, "node_modules", "typescript", "bin", "tsc"), ...options, ...built]);
}

for (const language of LANGUAGES) {
  const { name, tool, versionFlag, file, mark } = language;
  const missing = hasTool(tool, versionFlag) ? [] : [tool];
  testWith(
    [tool],
    missing,
    `the ${name} sample of docs/webhooks.md says what verifySignature says`,
    async () => {
      const folder = await mkdtemp(join(tmpdir(), "gatepost-sample-"));
      try {
        const table = cases();
        await mkdir(join(folder, "built"));
        await writeFile(join(folder, "cases"), table.map(line).join("\n"));
        await writeFile(join(folder, file), language.program(await sampleOf(mark)));
        if (mark === "typescript") await compileTypeScript(folder);
        const [command, ...words] = language.command(folder);
        // Go needs a cache in the home folder, which may not exist.
        const env = {
          ...process.env,
          ...(process.env["HOME"] === undefined ? { GOCACHE: join(folder, "cache") } : {}),
          GOFLAGS: "-mod=mod",
          GOTOOLCHAIN: "local",
        };
        const { stdout } = await run(command, [...words, join(folder, "cases")], {
          env,
          timeout: 600_000, // Go compiles its imports the first time
        });
        const want = table.map(({ body, header, secret }) =>
          String(verifySignature(body, header, secret)),
        );
        assert.deepEqual(stdout.trim().split("\n"), want);
        assert.equal(want.filter((each) => each === "true").length, 5);
      } finally {
        await rm(folder, { recursive: true });
      }
    },
  );
}

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite } from "node:test";
import { serviceWorld } from "../../e2e/service-world.ts";
import { readDocument } from "../../guards/docs-tables.ts";
import { testWithTools } from "../../process/require-tool.ts";

/** An address, and what the visitor reads. */
const CASES = [
  ["jo@good.example", ""],
  ["jo@silent.example", ""],
  ["jo@", "Please check the email address."],
  ["jo@gmial.com", "Did you mean jo@gmail.com?"],
  ["jo@mailinator.com", "Please use a permanent email address."],
  ["jo@null.example", "This domain does not receive mail."],
] as const;

const EMAILS = JSON.stringify(CASES.map(([email]) => email));

interface Language {
  readonly fence: string;
  readonly program: string;
  readonly file: string;
  /** Prints a line for each address. */
  readonly driver: string;
  /** Checks syntax alone, for what needs the framework. */
  readonly lint: readonly string[];
}

const JS: Language = {
  fence: "js",
  program: "node",
  file: "gatepost.mjs",
  driver: `for (const email of ${EMAILS}) console.log((await problemWith(email)) ?? "");`,
  lint: ["--check"],
};

const GUIDES: Readonly<Record<string, Language>> = {
  express: JS,
  next: JS,
  django: {
    fence: "py",
    program: "python3",
    file: "gatepost.py",
    driver: `for email in ${EMAILS}:\n    print(problem_with(email) or "")`,
    lint: ["-m", "py_compile"],
  },
  laravel: {
    fence: "php",
    program: "php",
    file: "gatepost.php",
    driver: `foreach (json_decode('${EMAILS}') as $email) { echo problemWith($email) ?? '', "\\n"; }`,
    lint: ["-l"],
  },
  rails: {
    fence: "rb",
    program: "ruby",
    file: "gatepost.rb",
    driver: `${EMAILS}.each { |email| puts Gatepost.problem_with(email).to_s }`,
    lint: ["-c"],
  },
};

function blocks(guide: string, fence: string): readonly string[] {
  const found = readDocument(`docs/guides/${guide}.md`).matchAll(
    new RegExp(`\`\`\`${fence}\n([\\s\\S]*?)\`\`\``, "g"),
  );
  return [...found].map((match) => match[1] ?? "");
}

suite("the samples of docs/guides work against a real server, and fail open without it", () => {
  // Thirty requests a minute are too few for five samples.
  const world = serviceWorld({ tiers: { anonymous: { rate_per_minute: 1_000 } } });
  let folder = "";

  before(() => {
    folder = mkdtempSync(join(tmpdir(), "gatepost-guides-"));
  });

  after(() => rmSync(folder, { recursive: true, force: true }));

  for (const [guide, language] of Object.entries(GUIDES)) {
    testWithTools([language.program], `docs/guides/${guide}.md`, () => {
      const [sample = "", glue = ""] = blocks(guide, language.fence);
      const file = join(folder, `${guide}-${language.file}`);
      writeFileSync(file, `${sample}\n${language.driver}\n`);
      const run = (url: string): readonly string[] => {
        const env = { ...process.env, GATEPOST_URL: url };
        const out = execFileSync(language.program, [file], { env, encoding: "utf8" });
        return out.split("\n").slice(0, CASES.length);
      };
      assert.deepEqual(
        run(world.service.url),
        CASES.map(([, message]) => message),
      );
      assert.deepEqual(
        run("http://127.0.0.1:9"),
        CASES.map(() => ""),
      );
      const glueFile = join(folder, `${guide}-glue-${language.file}`);
      writeFileSync(glueFile, glue);
      execFileSync(language.program, [...language.lint, glueFile], { stdio: "pipe" });
      return Promise.resolve();
    });
  }
});

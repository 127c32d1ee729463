import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { promisify } from "node:util";
import { DOCS_ZONE } from "../../e2e/docs-zone.ts";
import { createAccount, serviceWorld } from "../../e2e/service-world.ts";
import { hasTool } from "../../process/require-tool.ts";
import { temporaryFolder } from "../../process/temporary-folder.ts";
import { guideBlocks } from "./guide-blocks.ts";
import { patient, startRefusingService } from "./guide-tools.ts";

const run = promisify(execFile);

/** Address, language, and what the person reads. */
const CASES = [
  ["jo@good.example", "en", ""],
  ["jo+a&b@good.example", "en", ""],
  ["jo@gmaik.com", "en", ""],
  ["jo@mailinator.com", "en", "Please use a permanent email address."],
  ["jo@mailinator.com", "de", "Bitte verwenden Sie eine dauerhafte E-Mail-Adresse."],
] as const;

/** Java and Go are tried by whoever has them: a whole installation of both is no part of the set-up. */
const PROGRAMS: readonly {
  readonly fence: string;
  /** The page of docs/guides, if it is another. */
  readonly page?: string;
  /** Calls the block as a program is called. */
  readonly call?: string;
  readonly file: string;
  readonly build?: readonly [tool: string, ...words: string[]];
  readonly program: readonly [tool: string, ...words: string[]];
}[] = [
  { fence: "sh", file: "refusal.sh", program: ["sh", "refusal.sh"] },
  {
    fence: "java",
    file: "Gatepost.java",
    build: ["javac", "Gatepost.java"],
    program: ["java", "Gatepost"],
  },
  {
    fence: "go",
    file: "gatepost.go",
    build: ["go", "build", "-o", "ask", "gatepost.go"],
    program: ["./ask"],
  },
  {
    fence: "py",
    page: "django",
    file: "gatepost.py",
    call: "import sys\nprint(problem_with(sys.argv[1], True, sys.argv[2]) or '')\n",
    program: ["python3", "gatepost.py"],
  },
  {
    fence: "rb",
    page: "rails",
    file: "gatepost.rb",
    call: "print Gatepost.problem_with(ARGV[0], confirmed: true, language: ARGV[1])\n",
    program: ["ruby", "gatepost.rb"],
  },
];

suite("the request of docs/guides/any-system.md", () => {
  let key = "";
  let refusing: Awaited<ReturnType<typeof startRefusingService>>;
  const world = serviceWorld({
    zone: { ...DOCS_ZONE, "gmaik.com": { mx: ["10 mx1.mail.example"] } },
    async begin({ home, atEnd }) {
      refusing = await startRefusingService();
      atEnd(() => refusing.close());
      key = createAccount(home, "you@example.com").api_key;
    },
  });
  for (const { fence, page = "any-system", file, call = "", build, program } of PROGRAMS) {
    const [tool, ...words] = build ?? program;
    const skip = hasTool(tool, tool === "go" ? "version" : "--version") ? false : tool;
    test(`${fence}: only a rejection refuses, and nobody without an answer`, { skip }, async () => {
      const folder = temporaryFolder();
      const [block = ""] = guideBlocks(page, fence);
      writeFileSync(join(folder, file), patient(block) + call);
      const env = { ...process.env, GO111MODULE: "off" };
      if (build !== undefined) await run(tool, words, { cwd: folder, env });
      const [command, ...rest] = program;
      const said = async (url: string, email: string, language: string): Promise<string> => {
        const asked = { ...env, GATEPOST_URL: url, GATEPOST_KEY: key };
        const { stdout } = await run(command, [...rest, email, language], {
          cwd: folder,
          env: asked,
        });
        return stdout.trim();
      };
      for (const [email, language, message] of CASES) {
        assert.equal(await said(world.service.url, email, language), message, email);
      }
      assert.equal(await said("http://127.0.0.1:9", "jo@mailinator.com", "en"), "");
      for (const { status, url, message } of refusing.rows) {
        assert.equal(await said(url, "jo@good.example", "en"), message, String(status));
      }
    });
  }
});

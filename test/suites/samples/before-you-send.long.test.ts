// The blocks of docs/guides/before-you-send.md against a service that holds one address, and against none.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { suite } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { hasTool, testWith } from "../../process/require-tool.ts";
import { temporaryFolder } from "../../process/temporary-folder.ts";
import { guideBlocks } from "./guide-blocks.ts";

const run = promisify(execFile);
const CLIENTS = fileURLToPath(new URL("../../../../clients", import.meta.url));
const BUILT = new URL("../../../clients/typescript/src/index.js", import.meta.url).href;

/** The rest of the application: sends to both addresses and prints those that went out. */
const APPLICATIONS = [
  [
    "node",
    "js",
    "app.mjs",
    `
const sent = [];
const app = { locals: { sendLink: (email) => sent.push(email) } };
for (const email of ["held@x.example", "jo@x.example"]) {
  await forgotPassword({ body: { email }, app }, { send: () => undefined });
}
console.log(JSON.stringify(sent));`,
  ],
  [
    "python3",
    "py",
    "app.py",
    `
import json
sent = []
for email in ["held@x.example", "jo@x.example"]:
    send_link(email, lambda subject, text, sender, to: sent.extend(to))
print(json.dumps(sent))`,
  ],
  [
    "php",
    "php",
    "app.php",
    `
require '${CLIENTS}/php/src/autoload.php';
$sent = [];
foreach (['held@x.example', 'jo@x.example'] as $email) {
    $message = new class ($email) {
        public function __construct(private string $email) {}
        public function getTo(): array { return [$this]; }
        public function getAddress(): string { return $this->email; }
    };
    if ((new AskBeforeSending)->handle((object) ['message' => $message])) {
        $sent[] = $email;
    }
}
echo json_encode($sent);`,
  ],
  [
    "ruby",
    "rb",
    "app.rb",
    `
Mail = Struct.new(:to, :perform_deliveries)
sent = ["held@x.example", "jo@x.example"].select do |email|
  mail = Mail.new([email], true)
  AskBeforeSending.delivering_email(mail)
  mail.perform_deliveries
end
puts JSON.generate(sent)`,
  ],
] as const;

suite("applications that ask before they send", () => {
  for (const [program, fence, file, rest] of APPLICATIONS) {
    testWith(
      [program],
      hasTool(program) ? [] : [program],
      `before-you-send.md, ${fence}`,
      async () => {
        const place = temporaryFolder();
        const library = join(place, "node_modules/gatepost-client");
        mkdirSync(library, { recursive: true });
        writeFileSync(join(library, "package.json"), '{"type":"module","exports":"./index.js"}');
        writeFileSync(join(library, "index.js"), `export * from "${BUILT}";`);
        const [block = ""] = guideBlocks("before-you-send", fence);
        writeFileSync(join(place, file), block + rest);
        const asked: string[] = [];
        const server = createServer((request, response) => {
          request.setEncoding("utf8").on("data", (text: string) => {
            asked.push(text);
            const decision = text.includes("held@") ? "reject" : "accept";
            const policy = { name: "send", version: 1 };
            response.setHeader("content-type", "application/json");
            response.end(JSON.stringify({ decision, reason: "bounced", complete: true, policy }));
          });
        }).listen(0, "127.0.0.1");
        await new Promise((resolve) => server.once("listening", resolve));
        const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
        const env = { ...process.env, PYTHONPATH: join(CLIENTS, "python"), GATEPOST_KEY: "k" };
        const sent = async (): Promise<unknown> => {
          const options = { cwd: place, env: { ...env, GATEPOST_URL: url } };
          return JSON.parse((await run(program, [file], options)).stdout);
        };
        try {
          assert.deepEqual(await sent(), ["jo@x.example"]);
          assert.ok(asked.length === 2 && asked.every((text) => /"for": ?"send"/.test(text)));
        } finally {
          server.close();
          server.closeAllConnections();
        }
        assert.deepEqual(await sent(), ["held@x.example", "jo@x.example"], "without the service");
      },
    );
  }
});

import { strict as assert } from "node:assert";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { verifySignature } from "../../src/webhooks/verify.ts";
import { testAuthority } from "../process/certificates.ts";
import { makeNamespace, removeNamespace } from "../process/public-namespace.ts";
import { testWith } from "../process/require-tool.ts";
import { temporaryFolder } from "../process/temporary-folder.ts";

const NAMESPACE = `gatepost-${String(process.pid)}`;
async function runInside(): Promise<Record<string, unknown>> {
  const folder = temporaryFolder();
  const authority = join(folder, "authority.pem");
  await writeFile(authority, testAuthority);
  const script = fileURLToPath(new URL("public-network-inside.js", import.meta.url));
  const { stdout } = await promisify(execFile)(
    "ip",
    ["netns", "exec", NAMESPACE, process.execPath, "--enable-source-maps", script],
    { env: { ...process.env, NODE_EXTRA_CA_CERTS: authority }, timeout: 240_000 },
  );
  return JSON.parse(stdout) as Record<string, unknown>;
}

/** The result of each post, as the sender reports it. */
const WANTED = {
  name: { status: 200, kept: 1_024 },
  sixName: { status: 200, kept: 1_024 },
  fourLiteral: { status: 200, kept: 1_024 },
  sixLiteral: { status: 200, kept: 1_024 },
  wrongName: { fault: "tls", detail: "ERR_TLS_CERT_ALTNAME_INVALID" },
  rebindFirst: { status: 200, kept: 1_024 },
  rebindSecond: { fault: "not_public", detail: "127.0.0.1" },
  mixed: { fault: "not_public", detail: "10.0.0.1" },
  literals: Array<string>(9).fill("not_public"),
  followed: { status: 200, kept: 5_000 },
  inward: { fault: "not_public", detail: "10.0.0.1" },
  trapped: 0,
};

const made = makeNamespace(NAMESPACE);
const missing = made ? [] : ["permission to create a network namespace (ip netns, as root)"];

testWith(
  ["a network namespace with a public address"],
  missing,
  "with the guard on, webhooks and RDAP reach only public addresses",
  async () => {
    try {
      const { seen, ...outcome } = await runInside();
      assert.deepEqual(outcome, WANTED);
      checkRequest((seen as Request[])[0]);
    } finally {
      removeNamespace(NAMESPACE);
    }
  },
);

interface Request {
  readonly raw: readonly string[];
  readonly body: string;
  readonly method: string;
  readonly path: string;
}

/** Headers exactly as in the contract, plus those that HTTP requires. */
function checkRequest(request: Request | undefined): void {
  assert.ok(request !== undefined);
  const { raw, body, method, path } = request;
  const signature = raw[raw.indexOf("X-Service-Signature") + 1];
  assert.deepEqual([method, path], ["POST", "/hook?a=b"]);
  const wanted = [
    ["Host", "receiver.example:8443"],
    ["Connection", "close"],
    ["Content-Length", String(Buffer.byteLength(body))],
    ["Content-Type", "application/json"],
    ["X-Service-Event", "test.ping"],
    ["X-Service-Signature", signature],
    ["User-Agent", "Service-Webhook/1.0"],
  ];
  assert.deepEqual(raw, wanted.flat());
  assert.equal(verifySignature(body, signature, "topsecret"), true);
  const { event, data } = JSON.parse(body) as { event: string; data: unknown };
  assert.deepEqual([event, data], ["test.ping", { message: "Webhook endpoint verified." }]);
}

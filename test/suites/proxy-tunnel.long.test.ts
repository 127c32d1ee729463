import { strict as assert } from "node:assert";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { testAuthority } from "../process/certificates.ts";
import { temporaryFolder } from "../process/temporary-folder.ts";

const TARGET = "receiver.example:443";
const refused = (detail: string) => ({
  targets: [TARGET],
  kind: "refused",
  why: "not_fetched",
  detail,
});

const WANTED: Readonly<Record<string, readonly [sentence: string, outcome: unknown]>> = {
  tunnelled: ["a list is fetched completely through a tunnel", { targets: [TARGET], taken: true }],
  unchanged: ["so is the answer that nothing changed", { targets: [TARGET], kind: "unchanged" }],
  moved: ["a redirect gets its own tunnel", { targets: [TARGET, TARGET], taken: true }],
  noHttp: [
    "a server that is not a proxy is reported",
    refused("unreachable proxy HPE_INVALID_CONSTANT"),
  ],
  page: ["a page instead of TLS is refused", refused("tls ERR_SSL")],
  silentTunnel: ["a silent tunnel times out", refused("timeout")],
  breaksOff: ["a truncated list is refused", refused("broken aborted")],
  expired: [
    "the list's certificate is checked through a proxy too",
    refused("tls CERT_HAS_EXPIRED"),
  ],
};

let outcomes: Readonly<Record<string, unknown>> = {};

before(async () => {
  const folder = temporaryFolder();
  const authority = join(folder, "authority.pem");
  await writeFile(authority, testAuthority);
  const script = fileURLToPath(new URL("proxy-tunnel-inside.js", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ["--enable-source-maps", script], {
    env: { ...process.env, NODE_EXTRA_CA_CERTS: authority },
    timeout: 240_000,
  });
  outcomes = JSON.parse(stdout) as Record<string, unknown>;
});

for (const [key, [sentence, want]] of Object.entries(WANTED)) {
  test(sentence, () => assert.deepEqual(outcomes[key], want));
}

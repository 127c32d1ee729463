import { strict as assert } from "node:assert";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { testAuthority } from "../process/certificates.ts";

const TARGET = "receiver.example:443";
const refused = (detail: string) => ({
  targets: [TARGET],
  kind: "refused",
  why: "not_fetched",
  detail,
});

const WANTED: Readonly<Record<string, readonly [sentence: string, outcome: unknown]>> = {
  tunnelled: ["a list comes through a tunnel whole", { targets: [TARGET], taken: true }],
  unchanged: ["so does the word that nothing changed", { targets: [TARGET], kind: "unchanged" }],
  moved: ["a redirect has a tunnel of its own", { targets: [TARGET, TARGET], taken: true }],
  wantsPassword: ["a proxy that wants a password is named", refused("unreachable proxy 407")],
  cannotReach: ["a proxy that reaches nobody is named", refused("unreachable proxy 502")],
  noHttp: [
    "something else than a proxy is told",
    refused("unreachable proxy HPE_INVALID_CONSTANT"),
  ],
  closesAtOnce: ["a proxy that hangs up is told", refused("unreachable proxy ECONNRESET")],
  closesTheTunnel: ["a tunnel that ends is told", refused("tls ECONNRESET")],
  page: ["a page in place of TLS is no list", refused("tls ERR_SSL")],
  silent: ["a proxy that never answers is given up", refused("timeout proxy")],
  silentTunnel: ["a tunnel without an end is given up", refused("timeout")],
  endlessHeaders: [
    "headers without end are cut off",
    refused("unreachable proxy HPE_HEADER_OVERFLOW"),
  ],
  breaksOff: ["a list that breaks off is no list", refused("broken aborted")],
  expired: [
    "the list's certificate is checked behind a proxy too",
    refused("tls CERT_HAS_EXPIRED"),
  ],
  gone: [
    "a proxy that is not there is told",
    { id: "ded", kind: "refused", why: "not_fetched", detail: "unreachable ECONNREFUSED" },
  ],
};

let outcomes: Readonly<Record<string, unknown>> = {};

before(async () => {
  const folder = await mkdtemp(join(tmpdir(), "gatepost-authority-"));
  try {
    const authority = join(folder, "authority.pem");
    await writeFile(authority, testAuthority);
    const script = fileURLToPath(new URL("proxy-tunnel-inside.js", import.meta.url));
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--enable-source-maps", script],
      { env: { ...process.env, NODE_EXTRA_CA_CERTS: authority }, timeout: 240_000 },
    );
    outcomes = JSON.parse(stdout) as Record<string, unknown>;
  } finally {
    await rm(folder, { recursive: true });
  }
});

for (const [key, [sentence, want]] of Object.entries(WANTED)) {
  test(sentence, () => assert.deepEqual(outcomes[key], want));
}

import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { suite } from "node:test";
import { createServer, type Server } from "node:tls";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gatepost } from "../../e2e/service-process.ts";
import { createAccount, serviceWorld } from "../../e2e/service-world.ts";
import { childEnvironment } from "../../process/child-environment.ts";
import { hasTool, testWith } from "../../process/require-tool.ts";

const run = promisify(execFile);
const FOLDER = fileURLToPath(new URL("../../../../test/compat-clients/", import.meta.url));

/** The hosts that the clients have built in. */
const HOSTS: Readonly<Record<string, string>> = {
  "api.kickbox.com": "kickbox",
  "api.neverbounce.com": "neverbounce",
  "api.zerobounce.net": "zerobounce",
  "bulkapi.zerobounce.net": "zerobounce",
  "api.mailcheck.ai": "mailcheck-ai",
  "api-1.verifalia.com": "verifalia",
  "api-2.verifalia.com": "verifalia",
  "api-3.verifalia.com": "verifalia",
};

const TOOLS = hasTool("openssl", "version") ? [] : ["openssl"];
const installed = (folder: string): readonly string[] =>
  existsSync(join(FOLDER, folder)) ? [] : [`test/compat-clients/${folder}`];
const MISSING = {
  php: hasTool("php") ? [] : ["php"],
  ruby: hasTool("ruby") ? [] : ["ruby"],
  node: [...TOOLS, ...installed("node_modules")],
  python: [...TOOLS, ...(hasTool("python3") ? [] : ["python3"]), ...installed("python-packages")],
};
const NEEDED = ["openssl and the clients as .ci/run installs them"];

const RISKY = ["risky", "unknown"];
const NEVERBOUNCE = ["disposable", "unknown"];
const VERIFALIA = ["Risky DomainIsWellKnownDea", "Unknown MailboxConnectionFailure", 401];

/** What a client says of a disposable address, of one that takes mail, and of a wrong key. */
const NODE_CLIENTS = {
  "npm kickbox, by host": [...RISKY, "403: Invalid API key"],
  "npm kickbox, by base and version": [...RISKY, "403: Invalid API key"],
  "npm neverbounce, by host": [...NEVERBOUNCE, "AuthError"],
  "npm neverbounce, by version": [...NEVERBOUNCE, "AuthError"],
  "npm zero-bounce-sdk, by URL": [
    "do_not_mail disposable",
    "unknown ",
    "Invalid API Key or your account ran out of credits",
  ],
  "npm verifalia, by host": VERIFALIA,
  "npm verifalia, by URL": VERIFALIA,
  "npm zero-bounce-sdk, a batch by host": ["do_not_mail", "unknown"],
  "npm zero-bounce-sdk, credits by host": ["999999999"],
};

const PYTHON_CLIENTS = {
  "pypi kickbox, by host": [...RISKY, "ClientError"],
  "pypi kickbox, by base and version": [...RISKY, "ClientError"],
  "pypi neverbounce-sdk, by host": [...NEVERBOUNCE, "AuthFailure"],
  "pypi zerobouncesdk, by host": ["do_not_mail", "unknown", "ZBApiException"],
  "pypi mailcheck, by host": [true, false, "Invalid API key."],
  "pypi zerobouncesdk, a batch by host": ["do_not_mail", "unknown"],
};

suite("clients of other services work unmodified, by host name or by base URL", () => {
  let environment: NodeJS.ProcessEnv;
  serviceWorld({
    zone: {
      "good.example": { mx: ["10 mx.good.example"] },
      "bad.example": { mx: ["10 mx.good.example"] },
      "mx.good.example": { a: ["192.0.2.25"] },
    },
    settings: {
      GATEPOST_COMPAT_HOSTS: Object.entries(HOSTS)
        .map((pair) => pair.join("="))
        .join(","),
    },
    prepare: (home) => void gatepost(home, ["lists", "deny", "bad.example"]),
    async begin({ home, service, atEnd }) {
      if (TOOLS.length > 0) return;
      const { api_key: key } = createAccount(home, "a@x.example");
      const { certificate, keyFile } = makeCertificate(home.directory);
      const front = await tlsFront({
        certificate,
        keyFile,
        port: Number(new URL(service.url).port),
      });
      atEnd(() => front.close());
      environment = childEnvironment({
        COMPAT_HOSTS: Object.keys(HOSTS).join(","),
        COMPAT_PORT: String((front.address() as AddressInfo).port),
        COMPAT_KEY: key,
        COMPAT_URL: service.url,
        NODE_EXTRA_CA_CERTS: certificate,
        REQUESTS_CA_BUNDLE: certificate,
      });
    },
  });

  const told = async (program: string, words: readonly string[], at = "."): Promise<unknown> => {
    const { stdout } = await run(program, [...words], { cwd: join(FOLDER, at), env: environment });
    return JSON.parse(stdout);
  };

  testWith(NEEDED, MISSING.node, "four clients from npm", async () => {
    const words = ["--import", "./loopback.mjs", "clients.mjs"];
    assert.deepEqual(await told(process.execPath, words), NODE_CLIENTS);
  });

  testWith(NEEDED, MISSING.python, "four clients from PyPI", async () => {
    assert.deepEqual(await told("python3", ["clients.py"]), PYTHON_CLIENTS);
  });

  const [disposable, good] = NEVERBOUNCE;
  const neverbounce = [disposable, good, "auth_failure"];

  testWith(NEEDED, [...TOOLS, ...MISSING.php], "what NeverBounce's PHP client does", async () => {
    assert.deepEqual(await told("php", ["neverbounce.php"]), {
      "php neverbounce": neverbounce,
      "php neverbounce, the account": ["success", "auth_failure"],
    });
  });

  testWith(NEEDED, [...TOOLS, ...MISSING.ruby], "what its Ruby and Java clients do", async () => {
    const said = { "ruby neverbounce": neverbounce, "java neverbounce": neverbounce };
    assert.deepEqual(await told("ruby", ["neverbounce.rb"]), said);
  });
});

/** A certificate for all hosts that is its own authority; returns both files. */
function makeCertificate(directory: string): { certificate: string; keyFile: string } {
  const certificate = join(directory, "compat.pem");
  const keyFile = join(directory, "compat.key");
  const names = Object.keys(HOSTS).map((host) => `DNS:${host}`);
  const words =
    "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=compat";
  execFileSync(
    "openssl",
    [
      ...words.split(" "),
      "-addext",
      `subjectAltName=${names.join(",")}`,
      "-keyout",
      keyFile,
      "-out",
      certificate,
    ],
    { stdio: "ignore" },
  );
  return { certificate, keyFile };
}

interface Front {
  readonly certificate: string;
  readonly keyFile: string;
  readonly port: number;
}

/** Ends TLS in front of the service, as a proxy does. */
async function tlsFront({ certificate, keyFile, port }: Front): Promise<Server> {
  const files = { cert: readFileSync(certificate), key: readFileSync(keyFile) };
  const server = createServer(files, (socket) => {
    const behind = connect(port, "127.0.0.1");
    socket.on("error", () => behind.destroy()).pipe(behind);
    behind.on("error", () => socket.destroy()).pipe(socket);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return server;
}

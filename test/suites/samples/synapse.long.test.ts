// The module of docs/guides/identity.md in a Synapse that this file starts.
import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { createAccount, startServiceWorld } from "../../e2e/service-world.ts";
import { childEnvironment } from "../../process/child-environment.ts";
import { testWith } from "../../process/require-tool.ts";
import { temporaryFolder } from "../../process/temporary-folder.ts";
import { startChild } from "../../services/child.ts";
import { freePort } from "../../services/free-port.ts";
import { until } from "../../time/until.ts";
import { pageBlocks } from "./guide-blocks.ts";

const PAGE = "docs/guides/identity.md";
const at = (path: string): string => fileURLToPath(new URL(`../../../../${path}`, import.meta.url));
/** Of which `python-packages` has compiled parts. */
const PYTHON = "/usr/bin/python3";
const PACKAGES = at("test/compat-clients/python-packages");

/** A mail server that takes everything; gives the recipients. */
async function startMailServer() {
  const recipients: string[] = [];
  const server = createServer((socket) => {
    let isText = false;
    socket.on("error", () => undefined);
    socket.write("220 x.example\r\n");
    socket.on("data", (piece) => {
      for (const line of piece.toString().split("\r\n").slice(0, -1)) {
        const [, recipient] = /^RCPT TO:<(.*)>/.exec(line) ?? [];
        if (recipient !== undefined) recipients.push(recipient);
        if (isText && line !== ".") continue;
        isText = line === "DATA";
        socket.write(isText ? "354 go on\r\n" : "250 OK\r\n");
      }
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return { recipients, port: (server.address() as AddressInfo).port, close: () => server.close() };
}

const missing = existsSync(join(PACKAGES, "synapse")) ? [] : [PACKAGES];

testWith(
  ["Synapse"],
  missing,
  "Synapse refuses to send its link to a disposable address",
  async (t) => {
    const world = await startServiceWorld();
    const mail = await startMailServer();
    t.after(async () => {
      mail.close();
      await world.close();
    });
    const { api_key: key } = createAccount(world.home, "synapse@x.example");
    const folder = temporaryFolder();
    const [module = ""] = pageBlocks(PAGE, "python");
    writeFileSync(join(folder, "gatepost_synapse.py"), module);
    writeFileSync(join(folder, "signing.key"), `ed25519 a_test ${"A".repeat(43)}`);
    const [block = ""] = pageBlocks(PAGE, "yaml");
    const own = block
      .replace("http://127.0.0.1:8080", world.service.url)
      .replace("gp_live_...", key);
    const port = await freePort();
    const url = `http://127.0.0.1:${String(port)}`;
    const resources = [{ names: ["client"] }];
    const settings = {
      ...(parse(own) as object),
      server_name: "x.example",
      public_baseurl: url,
      pid_file: join(folder, "pid"),
      listeners: [{ port, bind_addresses: ["127.0.0.1"], type: "http", resources }],
      database: { name: "sqlite3", args: { database: ":memory:" } },
      media_store_path: join(folder, "media"),
      signing_key_path: join(folder, "signing.key"),
      macaroon_secret_key: "a",
      form_secret: "b",
      trusted_key_servers: [],
      report_stats: false,
      enable_registration: true,
      registrations_require_3pid: ["email"],
      rc_3pid_validation: { per_second: 1_000, burst_count: 1_000 },
      email: { smtp_host: "127.0.0.1", smtp_port: mail.port, notif_from: "a@x.example" },
    };
    writeFileSync(join(folder, "homeserver.yaml"), JSON.stringify(settings));
    const PYTHONPATH = [PACKAGES, at("clients/python"), folder].join(delimiter);
    const words = ["-m", "synapse.app.homeserver", "-c", "homeserver.yaml"];
    const env = childEnvironment({ PYTHONPATH });
    const child = startChild(PYTHON, words, { cwd: folder, env });
    t.after(() => child.end("SIGTERM"));

    const asked = async (email: string): Promise<readonly unknown[]> => {
      const body = JSON.stringify({ client_secret: "a.secret", email, send_attempt: 1 });
      const path = "/_matrix/client/v3/register/email/requestToken";
      const answer = await fetch(`${url}${path}`, { method: "POST", body });
      const { errcode } = (await answer.json()) as { readonly errcode?: string };
      return [answer.status, errcode];
    };
    const DENIED = [403, "M_THREEPID_DENIED"];
    // The first question of a process on a busy machine may be too late, and is let in.
    await until(
      async () => {
        const [status, code] = await asked("jo@mailinator.com").catch(() => []);
        return (status === DENIED[0] && code === DENIED[1]) || undefined;
      },
      { what: "a refusal of Synapse", everyMs: 200 },
    );
    const { length } = mail.recipients;
    assert.deepEqual(await asked("jo@good.example"), [200, undefined]);
    assert.deepEqual(mail.recipients.slice(length), ["jo@good.example"]);
    await world.service.stop();
    assert.deepEqual(
      await asked("ann@mailinator.com"),
      [200, undefined],
      "nobody is refused while it is away",
    );
  },
);

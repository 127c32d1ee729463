import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { suite, test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { parse } from "yaml";
import { createAccount, serviceWorld } from "../../e2e/service-world.ts";
import { readDocument } from "../../guards/docs-tables.ts";
import { childEnvironment } from "../../process/child-environment.ts";
import { hasTool, testWith } from "../../process/require-tool.ts";
import { temporaryFolder } from "../../process/temporary-folder.ts";
import { startChild } from "../../services/child.ts";
import { freePort } from "../../services/free-port.ts";
import { until } from "../../time/until.ts";
import { pageBlocks } from "./guide-blocks.ts";
import {
  askExim,
  askPostfix,
  askSmtpd,
  layOutExim,
  layOutPostfix,
  mayMakeNamespaces,
  missingDaemons,
} from "./mail-daemons.ts";

const PAGE = "docs/guides/other-programs.md";
const run = promisify(execFile);

const EMAILS = ["jo@mailinator.com", "jo@a.b.mailinator.com", "jo@gmail.com"] as const;
/** What a program says that finds the names below a listed one, and one that does not. */
const FOUND = [true, true, false];
const MISSED = [true, false, false];

const NO_NAMESPACES = "needs the right to make namespaces";

const domainOf = (email: string): string => email.slice(email.indexOf("@") + 1);

/** Programs that cannot be had here: each keeps what it is given in the folder. */
const STAND_INS: Readonly<Record<string, string>> = {
  "bin/tootctl": `shift; verb=$1; shift; echo "$verb $#" >> calls; for name; do echo "$verb $name" >> changes; done`,
  "tools/docker": "cat > setting",
  "tools/wp": "cat > setting",
  "tools/smtpctl": 'echo "$*" > calls',
};

suite("the blocks of other programs work on the served list", () => {
  let environment: NodeJS.ProcessEnv = {};
  const world = serviceWorld({
    begin({ home, service }) {
      const { api_key: key } = createAccount(home, "lists@x.example");
      environment = childEnvironment({ GATEPOST: service.url, KEY: key });
    },
  });

  /** Runs the block below a heading in a new folder; a slash of the real system leads into it. */
  async function ran(heading: string, files: Readonly<Record<string, string>> = {}) {
    const folder = temporaryFolder();
    for (const [file, text] of Object.entries(STAND_INS)) {
      mkdirSync(join(folder, file, ".."), { recursive: true });
      writeFileSync(join(folder, file), `#!/bin/sh\n${text}\n`);
      chmodSync(join(folder, file), 0o755);
    }
    for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
    const [block = assert.fail(heading)] = pageBlocks(PAGE, "sh", heading);
    const again = async (settings: Readonly<Record<string, string>> = {}): Promise<void> => {
      const PATH = `${join(folder, "tools")}:${process.env["PATH"] ?? ""}`;
      const env = { ...environment, ...settings, PATH };
      await run("sh", ["-uc", block.replaceAll(/\/etc(\/postfix|\/exim4)?/g, folder)], {
        cwd: folder,
        env,
      });
    };
    const read = (file: string): string => readFileSync(join(folder, file), "utf8").trim();
    return { folder, again, read };
  }

  const AWAY = { GATEPOST: "http://127.0.0.1:9" };
  const need = (...tools: readonly string[]) => ["curl", ...tools].filter((one) => !hasTool(one));
  const tried = (
    name: string,
    tools: readonly string[],
    body: (t: TestContext) => Promise<void>,
  ): void => testWith(tools, need(...tools), name, body);

  tried("GitLab", ["jq"], async () => {
    let body = "";
    const gitlab = createServer((request, response) => {
      request.on("data", (piece: Buffer) => (body += piece.toString()));
      request.on("end", () => response.end("{}"));
    });
    await once(gitlab.listen(0, "127.0.0.1"), "listening");
    const { port } = gitlab.address() as AddressInfo;
    const { again } = await ran("## GitLab");
    await again({ GITLAB: `http://127.0.0.1:${String(port)}`, GITLAB_TOKEN: "t" });
    gitlab.close();
    const settings = JSON.parse(body) as Record<string, unknown>;
    assert.equal(settings["domain_denylist_enabled"], true);
    const patterns = new Set(settings["domain_denylist"] as readonly string[]);
    assert.equal(patterns.size, 2 * (await count()));
    const said = EMAILS.map((email) => parentsOf(domainOf(email)).some((one) => patterns.has(one)));
    assert.deepEqual(said, FOUND);
  });

  const count = async (): Promise<number> => {
    const headers = { "x-api-key": String(environment["KEY"]) };
    const text = await (
      await fetch(`${world.service.url}/feeds/disposable.txt`, { headers })
    ).text();
    return text.split("\n").filter((line) => line !== "" && !line.startsWith("#")).length;
  };

  /** The patterns that would hold a domain. */
  const parentsOf = (domain: string): readonly string[] => {
    const labels = domain.split(".");
    return [domain, ...labels.map((_, at) => `*.${labels.slice(at + 1).join(".")}`)];
  };

  tried(
    "Mastodon: what came is added, what went is removed, nothing while it is away",
    [],
    async () => {
      const { folder, again, read } = await ran("## Mastodon");
      await again();
      const names = read("names").split("\n");
      assert.equal(names.length, await count());
      assert.equal(read("calls").split("\n").length, Math.ceil(names.length / 1_000));
      assert.ok(read("changes").split("\n").includes("add mailinator.com"));
      const before = names.filter((name) => name !== "mailinator.com");
      writeFileSync(join(folder, "names"), [...before, "zz.gone.example", ""].join("\n"));
      writeFileSync(join(folder, "changes"), "");
      await assert.rejects(again(AWAY));
      assert.equal(read("changes"), "");
      await again();
      assert.equal(read("changes"), "add mailinator.com\nremove zz.gone.example");
      await again();
      assert.equal(read("changes"), "add mailinator.com\nremove zz.gone.example");
    },
  );

  tried("Matrix: MAS reads endings of addresses", [], async () => {
    const { again, read } = await ran("## Matrix");
    await again();
    const { policy } = parse(read("disposable.yaml")) as {
      policy: { data: { emails: { banned_addresses: { suffixes: readonly string[] } } } };
    };
    const { suffixes } = policy.data.emails.banned_addresses;
    assert.deepEqual(
      EMAILS.map((email) => suffixes.some((end) => email.endsWith(end))),
      FOUND,
    );
  });

  tried("Nextcloud: the import of settings", ["jq", "php"], async () => {
    const { folder, again, read } = await ran("## Nextcloud", { occ: "<?php // takes the file" });
    await again();
    const { apps } = JSON.parse(read("names.json")) as Readonly<
      Record<"apps", { readonly registration: Readonly<Record<string, string>> }>
    >;
    const { allowed_domains: patterns, domains_is_blocklist: isBlocked } = apps.registration;
    assert.equal(isBlocked, "yes");
    const listed = new Set(patterns?.split(";"));
    const said = EMAILS.map((email) => parentsOf(domainOf(email)).some((one) => listed.has(one)));
    assert.deepEqual(said, FOUND, folder);
  });

  tried(
    "Discourse: the setting, as its validator makes an expression of it",
    ["ruby"],
    async () => {
      const { folder, again } = await ran("## Discourse");
      await again();
      const rule = `list = File.read("setting").gsub(".", "\\\\.")
      puts ARGV.map { |email| email.match?(Regexp.new("@(.+\\\\.)?(#{list})$", true)) }.to_s`;
      const { stdout } = await run("ruby", ["-e", rule, ...EMAILS], { cwd: folder });
      assert.deepEqual(JSON.parse(stdout), FOUND);
    },
  );

  const WORDPRESS = process.env["WORDPRESS_FOLDER"] ?? "/usr/share/wordpress";
  const functions = join(WORDPRESS, "wp-includes/ms-functions.php");
  const noWordPress = existsSync(functions) ? [] : [`WordPress in ${WORDPRESS} (WORDPRESS_FOLDER)`];
  testWith(["php, WordPress"], [...need("php"), ...noWordPress], "WordPress", async () => {
    const { folder, again } = await ran("## WordPress");
    await again();
    const code = `function get_site_option($name) { return $name === "banned_email_domains" ? file_get_contents("setting") : null; }
      function apply_filters($name, $value) { return $value; }
      require $argv[1];
      echo json_encode(array_map("is_email_address_unsafe", array_slice($argv, 2)));`;
    const { stdout } = await run("php", ["-r", code, "--", functions, ...EMAILS], { cwd: folder });
    assert.deepEqual(JSON.parse(stdout), FOUND);
  });

  tried(
    "Postfix refuses listed senders, and those of names below, by Debian's configuration",
    ["postmap", "python3"],
    async (t) => {
      if (!mayMakeNamespaces()) return t.skip(NO_NAMESPACES);
      const { folder, again } = await ran("## Postfix");
      layOutPostfix(folder);
      await again({ MAIL_CONFIG: folder });
      const [, setting = assert.fail("no setting")] =
        /Once: `postconf -e '(.+)'`/.exec(readDocument(PAGE)) ?? [];
      const own = setting.replace("/etc/postfix", folder);
      assert.notEqual(own, setting);
      await run("postconf", ["-c", folder, "-e", own]);
      const said = askPostfix(folder, EMAILS);
      assert.deepEqual(
        said,
        FOUND.map((isFound) => (isFound ? "554" : "250")),
      );
    },
  );

  const daemon = (name: string, body: () => Promise<void>): void =>
    testWith(["Exim, OpenSMTPD"], [...need("python3"), ...missingDaemons()], name, async (t) => {
      if (!mayMakeNamespaces()) t.skip(NO_NAMESPACES);
      else await body();
    });

  daemon(
    "Exim refuses listed senders, and those of names below, by Debian's split configuration",
    async () => {
      const { folder, again } = await ran("## Exim");
      layOutExim(folder);
      await again();
      const said = askExim(folder, EMAILS);
      assert.deepEqual(
        said,
        FOUND.map((isFound) =>
          isFound ? "550 Please use a permanent email address." : "250 Accepted",
        ),
      );
    },
  );

  daemon("OpenSMTPD refuses listed senders once its table is updated", async () => {
    const { folder, again, read } = await ran("## OpenSMTPD");
    await again();
    assert.equal(read("calls"), "update table disposable");
    const [lines = ""] = pageBlocks(PAGE, "text", "## OpenSMTPD");
    const said = askSmtpd(folder, lines, EMAILS);
    const before = EMAILS.map(() => "250");
    assert.deepEqual(said, [...before, ...MISSED.map((isFound) => (isFound ? "550" : "250"))]);
  });

  tried("Rspamd fetches the list with the key of its URL", ["rspamd"], async () => {
    const folder = temporaryFolder();
    const [normal, controller] = [await freePort(), await freePort()];
    const [rule = ""] = pageBlocks(PAGE, "ucl");
    const base = world.service.url.replace("http://", "");
    const key = String(environment["KEY"]);
    const served = rule.replace(
      "https://rspamd:KEY@gatepost.example",
      `http://rspamd:${key}@${base}`,
    );
    assert.notEqual(served, rule);
    // Debian's own configuration, with ports and folders of this test in its places for local settings.
    const local: Readonly<Record<string, string>> = {
      "options.inc": `pidfile = "${folder}/pid"; map_watch_interval = 1s; url_tld = "${folder}/tld.dat"; maps_cache_dir = "${folder}";
        tempdir = "${folder}"; hs_cache_dir = "${folder}"; control_socket = "${folder}/control mode=0600"; dns { nameserver = ["127.0.0.1:9"]; }`,
      "logging.inc": `type = "file"; filename = "${folder}/log"; level = "info";`,
      "worker-normal.inc": `bind_socket = "127.0.0.1:${String(normal)}"; count = 1;`,
      "worker-controller.inc": `bind_socket = "127.0.0.1:${String(controller)}";`,
      "worker-proxy.inc": "enabled = false;",
      "multimap.conf": `${served}
        ${served.replace("GATEPOST_FROM", "GATEPOST_BELOW").replace("email:domain", "email:domain:tld")}`,
    };
    mkdirSync(join(folder, "local.d"));
    for (const [file, text] of Object.entries(local))
      writeFileSync(join(folder, "local.d", file), text);
    writeFileSync(join(folder, "tld.dat"), "com\n");
    const places = ["LOCAL_CONFDIR", "DBDIR", "RUNDIR", "LOGDIR"].flatMap((name) => [
      "--var",
      `${name}=${folder}`,
    ]);
    const child = startChild("rspamd", ["-i", "-f", "-c", "/etc/rspamd/rspamd.conf", ...places]);
    const symbolsOf = async (email: string): Promise<readonly boolean[] | undefined> => {
      const url = `http://127.0.0.1:${String(normal)}/checkv2`;
      const body = `From: ${email}\nTo: a@b.example\nSubject: x\n\nhello\n`;
      const answer = await fetch(url, { method: "POST", headers: { From: email }, body }).catch(
        () => undefined,
      );
      if (answer?.ok !== true) return undefined;
      const { symbols = {} } = (await answer.json()) as {
        symbols?: Readonly<Record<string, { readonly score: number }>>;
      };
      return ["GATEPOST_FROM", "GATEPOST_BELOW"].map((name) => symbols[name]?.score === 4);
    };
    try {
      await until(async () => (await symbolsOf(EMAILS[0]))?.[0], {
        what: "the list of Rspamd",
        everyMs: 100,
      });
      const said: Awaited<ReturnType<typeof symbolsOf>>[] = [];
      for (const email of EMAILS) said.push(await symbolsOf(email));
      assert.deepEqual(
        [0, 1].map((at) => said.map((one) => one?.[at])),
        [MISSED, FOUND],
      );
    } finally {
      await child.end("SIGTERM");
    }
  });

  const GO_FOLDER = fileURLToPath(new URL("../../../../test/compat-clients/go/", import.meta.url));
  const GO = { GOFLAGS: "-mod=mod", GOPROXY: "off", GOTOOLCHAIN: "local" };
  const goEnvironment = { ...process.env, ...GO };
  const hasGo =
    spawnSync("go", ["list", "-deps", "./gitea"], { cwd: GO_FOLDER, env: goEnvironment }).status ===
    0;
  // Only npm and Debian are part of the set-up: it is tried by whoever ran `go mod download` in its folder.
  const skip = hasGo && need("jq").length === 0 ? false : "the modules of test/compat-clients/go";
  test("Gitea and Forgejo read the names of two curated lists", { skip }, async () => {
    const ini =
      "APP_NAME = Git\n[service]\nEMAIL_DOMAIN_BLOCKLIST = old.example\nLANDING = a\n[log]\n";
    const { folder, again, read } = await ran("## Gitea and Forgejo", { "app.ini": ini });
    await again();
    const written = read("app.ini");
    assert.equal(written.replace(/(?<=BLOCKLIST = )[^\n]*/, "old.example"), ini.trim());
    const words = ["run", "./gitea", join(folder, "app.ini"), ...EMAILS];
    const { stdout } = await run("go", words, { cwd: GO_FOLDER, env: goEnvironment });
    assert.deepEqual(JSON.parse(stdout), MISSED);
    await assert.rejects(again(AWAY));
    assert.equal(read("app.ini"), written);
  });
});

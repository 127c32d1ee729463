import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, before, suite } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { testWith } from "../process/require-tool.ts";
import { type RunningWorld, startClientWorld } from "./client-world.ts";
import { temporaryFolder } from "../process/temporary-folder.ts";

const run = promisify(execFile);
const CLIENTS = fileURLToPath(new URL("../../../clients", import.meta.url));

/** Debian puts its packages where its own interpreter looks, which need not be the first on the path. */
const PYTHON = ["python3", "/usr/bin/python3"].find((python) =>
  works(python, "-c", "import django, rest_framework, fastapi"),
);
const WORDPRESS = process.env["WORDPRESS_FOLDER"] ?? "/usr/share/wordpress";

function works(command: string, ...words: readonly string[]): boolean {
  return spawnSync(command, words, { stdio: "ignore" }).status === 0;
}

const PERMANENT = "Bitte verwenden Sie eine dauerhafte E-Mail-Adresse.";
const NO_MAIL = "Diese Adresse kann keine E-Mails empfangen. Bitte prüfen Sie den Teil nach dem @.";
const MEANT = "Meinten Sie jo@gmail.com?";

const ADDRESSES = ["jo@good.example", "jo@gmaill.com", "jo@mailinator.com", "jo@null.example"];
/** What a field says about each address. */
const FIELD = [[], [], [PERMANENT], [NO_MAIL]];
/** The same where people can confirm what looks mistyped. */
const ASKING = [[], [MEANT], [PERMANENT], [NO_MAIL]];

interface Framework {
  readonly name: string;
  readonly missing: readonly string[];
  readonly program: readonly string[];
  readonly want: Readonly<Record<string, readonly (readonly string[])[]>>;
}

const FRAMEWORKS: readonly Framework[] = [
  {
    name: "Django, its REST framework and FastAPI",
    missing: PYTHON === undefined ? ["python3-django", "python3-djangorestframework", "python3-fastapi"] : [], // prettier-ignore
    program: [PYTHON ?? "python3", "-B", "python/tests/run_frameworks.py"],
    want: { django: ASKING, rest_framework: FIELD, fastapi: FIELD },
  },
  {
    name: "Laravel",
    missing: works("php", "-r", "require 'Illuminate/Validation/autoload.php';")
      ? []
      : ["php-illuminate-validation"],
    program: ["php", "-d", "zend.assertions=1", "php/tests/run_laravel.php"],
    want: { laravel: FIELD, challenging: ASKING, later: FIELD },
  },
  {
    name: "Guzzle, by PSR-18",
    missing: works("php", "-r", "require 'GuzzleHttp/autoload.php';")
      ? []
      : ["php-guzzlehttp-guzzle"],
    program: ["php", "-d", "zend.assertions=1", "php/tests/run_psr18.php"],
    want: { psr18: FIELD },
  },
  {
    name: "WordPress",
    missing:
      works("php", "--version") && existsSync(join(WORDPRESS, "wp-includes"))
        ? []
        : [`php, and WordPress in ${WORDPRESS} (WORDPRESS_FOLDER)`],
    program: ["php", "php/tests/run_wordpress.php", WORDPRESS],
    want: {
      registration_errors: FIELD,
      woocommerce_registration_errors: FIELD,
      profile: FIELD,
      account: FIELD,
      network: FIELD,
    },
  },
];

suite("parts for frameworks refuse what the service refuses, and nobody without it", () => {
  let world: RunningWorld;
  let folder = "";

  before(async () => {
    world = await startClientWorld();
    folder = temporaryFolder();
  });

  after(() => world.close());

  for (const { name, missing, program, want } of FRAMEWORKS) {
    testWith(["the framework"], missing, name, async () => {
      const [command = "", ...words] = program;
      // What the client keeps between processes goes below the temporary folder.
      const options = { cwd: CLIENTS, env: { ...process.env, TMPDIR: folder } };
      const seenAt = async (url: string): Promise<typeof want> => {
        const { stdout } = await run(command, [...words, url, JSON.stringify(ADDRESSES)], options);
        return JSON.parse(stdout) as typeof want;
      };
      assert.deepEqual(await seenAt(world.service), want);
      const nobody = Object.keys(want).map((part) => [part, ADDRESSES.map(() => [])]);
      assert.deepEqual(await seenAt(world.faults["status_500"] ?? ""), Object.fromEntries(nobody));
    });
  }
});

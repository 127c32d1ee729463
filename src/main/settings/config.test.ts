import { strict as assert } from "node:assert";
import { test } from "node:test";
import { publicUrlOf, readConfig, unknownSettings } from "./config.ts";

for (const [text, hours] of [
  ["0.25", 0.25],
  ["24", 24],
  ["720", 720],
  ["0.2", undefined],
  ["721", undefined],
  ["1e2", undefined],
  ["..", undefined],
] as const) {
  test(`GATEPOST_LIST_HOURS=${text} is ${hours === undefined ? "refused" : "taken"}`, () => {
    const read = () => readConfig({ GATEPOST_LIST_HOURS: text }).listHours;
    if (hours === undefined) assert.throws(read, /must be a number from 0.25 to 720/);
    else assert.equal(read(), hours);
  });
}

test("a sign-in header needs a trusted proxy and the name of a header", () => {
  const given = { GATEPOST_SIGN_IN_HEADER: "Remote-Email" };
  assert.throws(() => readConfig(given), /GATEPOST_SIGN_IN_HEADER: needs GATEPOST_TRUST_PROXY/);
  const trusting = { ...given, GATEPOST_TRUST_PROXY: "127.0.0.1" };
  assert.equal(readConfig(trusting).signInHeader, "remote-email");
  const named = { ...trusting, GATEPOST_SIGN_IN_HEADER: "Remote Email" };
  assert.throws(() => readConfig(named), /must be the name of a header/);
});

test("without any setting the service listens on loopback port 8080", () => {
  const config = readConfig({});
  assert.equal(config.host, "127.0.0.1");
  assert.equal(config.port, 8_080);
  assert.equal(publicUrlOf(config), "http://127.0.0.1:8080");
  assert.equal(config.dnsServers, undefined);
  assert.equal(config.implicitMx, false);
});

test("blank counts as unset and lists are trimmed", () => {
  const config = readConfig({ PORT: "  ", GATEPOST_DNS_SERVERS: " 192.0.2.1 ,192.0.2.2:5353" });
  assert.equal(config.port, 8_080);
  assert.deepEqual(config.dnsServers, [
    { host: "192.0.2.1", port: 53 },
    { host: "192.0.2.2", port: 5_353 },
  ]);
});

test("all mistakes are named at once, and a secret is never repeated", () => {
  const secret = "c2hvcnQ=";
  assert.throws(
    () =>
      readConfig({
        PORT: "http",
        LOG_LEVEL: "loud",
        GATEPOST_SECRET_KEY: secret,
        GATEPOST_IMPLICIT_MX: "maybe",
      }),
    (fault: Error) => {
      assert.deepEqual(
        fault.message.split("\n").map((line) => line.split(":")[0]),
        ["PORT", "GATEPOST_SECRET_KEY", "GATEPOST_IMPLICIT_MX", "LOG_LEVEL"],
      );
      return !fault.message.includes(secret);
    },
  );
});

const urls = [
  ["the listen address", {}, "http://127.0.0.1:8080"],
  ["localhost where it listens on all addresses", { HOST: "0.0.0.0" }, "http://localhost:8080"],
  ["localhost on all IPv6 addresses", { HOST: "::" }, "http://localhost:8080"],
  ["an IPv6 listen address in brackets", { HOST: "::1", PORT: "80" }, "http://[::1]:80"],
  [
    "what the operator says, less its last slash",
    { GATEPOST_PUBLIC_URL: "https://a.example/" },
    "https://a.example",
  ],
] as const;

for (const [name, environment, want] of urls) {
  test(`links start with ${name}`, () => {
    assert.equal(publicUrlOf(readConfig(environment)), want);
  });
}

test("an unknown setting is reported with the likely name, variables of Kubernetes are not", () => {
  const environment = {
    GATEPOST_PUBLICURL: "https://a.example",
    GATEPOST_PORT: "8081",
    GATEPOST_DATA_DIR: "/data",
    GATEPOST_API_PORT: "tcp://192.0.2.1:80",
    GATEPOST_PORT_80_TCP_ADDR: "192.0.2.1",
    GATEPOST_SERVICE_HOST: "192.0.2.1",
    GATEPOST_SERVICE_PORT_HTTP: "80",
    GATEPOST_SIGNUPS: "closed",
    GATEPOST_COLOUR: "blue",
    OTHER: "x",
    REDIS_URL: "redis://:hidden-word@cache",
  };
  assert.deepEqual(unknownSettings(environment), [
    "Unknown setting GATEPOST_COLOUR (ignored). docs/configuration.md lists all settings.",
    "Unknown setting GATEPOST_PORT (ignored). Did you mean PORT?",
    "Unknown setting GATEPOST_PUBLICURL (ignored). Did you mean GATEPOST_PUBLIC_URL?",
    "Unknown setting GATEPOST_SIGNUPS (ignored). Did you mean GATEPOST_SIGNUP?",
    "Removed setting REDIS_URL (ignored). Unset it: PostgreSQL alone (DATABASE_URL) is shared by several processes.",
  ]);
});

for (const name of [
  "GATEPOST_SITE_TITLE",
  "GATEPOST_SITE_TEXT",
  "GATEPOST_LOG_ADDRESSES",
  "GATEPOST_MAX_CONNECTIONS",
  "GATEPOST_WHOIS",
  "GATEPOST_CENSUS_NAMES",
]) {
  test(`${name} of an earlier version is named at the start, with what to do`, () => {
    const [warning, ...others] = unknownSettings({ [name]: "true" });
    assert.deepEqual(others, []);
    assert.ok(warning?.startsWith(`Removed setting ${name} (ignored). Unset it: `), warning);
  });
}

const addresses = [
  ["GATEPOST_PUBLIC_URL", "gatepost.example"],
  ["GATEPOST_PUBLIC_URL", "ftp://gatepost.example"],
  ["GATEPOST_PUBLIC_URL", "https://ada:hidden-word@gatepost.example"],
  ["GATEPOST_PUBLIC_URL", "https://:hidden-word@gatepost.example"],
  ["GATEPOST_RDAP_BOOTSTRAP_URL", "/etc/rdap.json"],
  ["GATEPOST_LISTS_MIRROR", "https://"],
] as const;

for (const [name, value] of addresses) {
  test(`${name}=${value} is refused, and no password is repeated`, () => {
    assert.throws(
      () => readConfig({ [name]: value }),
      ({ message }: Error) =>
        message === `${name}: must be an http or https URL without a user name.`,
    );
  });
}

const KEY = Buffer.alloc(32).toString("base64");
const DATABASE = "postgres://keeper:hidden-word@db.example/gatepost";

const scaled: readonly [
  name: string,
  environment: Readonly<Record<string, string>>,
  names: readonly string[],
][] = [
  [
    "a database and the key are a scale-out",
    { DATABASE_URL: DATABASE, GATEPOST_SECRET_KEY: KEY },
    [],
  ],
  [
    "PostgreSQL may be spelled out",
    {
      DATABASE_URL: DATABASE.replace("postgres:", "postgresql:"),
      GATEPOST_SECRET_KEY: KEY,
    },
    [],
  ],
  ["a database without the key lacks it", { DATABASE_URL: DATABASE }, ["GATEPOST_SECRET_KEY"]],
  [
    "a URL of something else is named with everything else",
    {
      DATABASE_URL: DATABASE.replace("postgres:", "mysql:"),
      GATEPOST_SECRET_KEY: KEY,
      GATEPOST_WORKER_PORT: "70000",
    },
    ["DATABASE_URL", "GATEPOST_WORKER_PORT"],
  ],
  [
    "a bad URL is no missing one",
    { DATABASE_URL: "postgres://hidden-word@", PORT: "x" },
    ["PORT", "DATABASE_URL", "GATEPOST_SECRET_KEY"],
  ],
];

for (const [name, environment, names] of scaled) {
  test(`scale-out: ${name}, and no password is repeated`, () => {
    let message = "";
    try {
      readConfig(environment);
    } catch (fault) {
      message = (fault as Error).message;
    }
    const named = message.split("\n").filter((line) => line !== "");
    assert.deepEqual(
      named.map((line) => line.split(":")[0]),
      names,
    );
    assert.doesNotMatch(message, /hidden-word/);
  });
}

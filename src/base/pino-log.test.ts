import { strict as assert } from "node:assert";
import { test } from "node:test";
import { StoreDown } from "./store-down.ts";
import { createLog, type LogLevel } from "./pino-log.ts";

function written(level: LogLevel, write: (log: ReturnType<typeof createLog>) => void) {
  const lines: string[] = [];
  const log = createLog(level, { write: (line: string) => void lines.push(line) });
  write(log);
  return lines;
}

const KEY = `gp_live_${"Ab3".repeat(13)}x`;
const SECRET = "0123456789abcdef".repeat(4);

const secrets = [
  ["a key in a message", "bad key", new Error(`key ${KEY} is revoked`), KEY],
  ["a key in a cause", "failed", new Error("outer", { cause: new Error(`saw ${KEY}`) }), KEY],
  [
    "a bearer value",
    "failed",
    new Error("sent Authorization: Bearer s3cret-token"),
    "s3cret-token",
  ],
  ["a webhook secret", "failed", new Error(`sign with ${SECRET}`), SECRET],
  ["a password in a URL", "failed", new Error("connect postgres://keeper:p4ss@db/x"), "p4ss"],
  ["an address", "failed", new Error("check ada.lovelace+x@x.example"), "lovelace"],
] as const;

for (const [name, event, fault, secret] of secrets) {
  test(`${name} is not written`, () => {
    const [line = ""] = written("info", (log) => log.error(event, fault));
    assert.doesNotMatch(line, new RegExp(secret.replaceAll("+", "\\+")));
    assert.equal(Reflect.get(JSON.parse(line), "msg"), event, "the line is still JSON");
  });
}

const members = [
  "password",
  "secret",
  "token",
  "apiKey",
  "api_key",
  "authorization",
  "cookie",
  "x-api-key",
];

for (const name of members) {
  test(`a member called ${name} is not written, at either depth`, () => {
    const lines = written("info", (log) => {
      log.info("given", { [name]: "hush" });
      log.warn("given", { headers: { [name]: "hush" } });
    });
    assert.equal(lines.length, 2);
    assert.doesNotMatch(lines.join(""), /hush/);
  });
}

test("the domain of an address stays readable", () => {
  const [line = ""] = written("info", (log) => log.info("check", { text: "ada@x.example" }));
  assert.match(line, /"\*\*\*@x\.example"/);
});

test("a fault is written with its stack, its code and the chain of its causes", () => {
  const cause = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
  const [line = ""] = written("info", (log) =>
    log.error("failed", new TypeError("save", { cause }), { route: "email" }),
  );
  const { level, route, fault } = JSON.parse(line);
  assert.deepEqual(
    [level, route, fault.type, fault.message],
    ["error", "email", "TypeError", "save"],
  );
  assert.match(fault.stack, /log\.test/);
  assert.deepEqual([fault.cause.message, fault.cause.code], ["refused", "ECONNREFUSED"]);
});

test("a chain of causes that bites its tail ends", () => {
  const fault = new Error("a");
  fault.cause = fault;
  assert.equal(written("info", (log) => log.error("failed", fault)).length, 1);
});

test("what was thrown without being an error is written as text", () => {
  const [line = ""] = written("info", (log) => log.error("failed", 7));
  assert.deepEqual(JSON.parse(line).fault, { type: "number", message: "7" });
});

test("a level leaves out what is below it", () => {
  assert.equal(written("warn", (log) => log.info("quiet")).length, 0);
  assert.equal(written("silent", (log) => log.error("loud", new Error("x"))).length, 0);
});

test("a long text without an at sign is written in linear time", () => {
  const [line = ""] = written("info", (log) => log.info("x".repeat(2_000_000)));
  assert.ok(line.length > 2_000_000);
});

test("a store that is away is told with its causes and without stacks, any other fault with them", () => {
  const away = new StoreDown("it does not serve", { cause: new Error("ECONNREFUSED") });
  const faultIn = (fault: Error): unknown => {
    const [line = ""] = written("info", (log) => log.error("flush_failed", fault));
    return Reflect.get(JSON.parse(line), "fault");
  };
  assert.deepEqual(faultIn(away), {
    type: "StoreDown",
    message: "it does not serve",
    cause: { type: "Error", message: "ECONNREFUSED" },
  });
  assert.match(JSON.stringify(faultIn(new Error("a bug"))), /log\.test/);
});

import { strict as assert } from "node:assert";
import { test } from "node:test";
import { recordingLog } from "../../test/http/http-app.ts";
import { callerAt } from "../../test/http/open-admission.ts";
import { createAccessLog } from "./request-logs.ts";

const LINE = { method: "GET", route: "email", status: 200, durationMs: 1.23456 };

const entries = [
  ["an address leaves its domain", "ada@x.example", "x.example"],
  ["a domain is logged", "x.example", "x.example"],
  ["the part behind the last at sign counts", "a@b@X.Example", "x.example"],
  ["a U-label is logged", "a@b\u00fccher.example", "b\u00fccher.example"],
  ["a word is not a domain", "hunter2", "invalid"],
  ["a key is not a domain", "gp_live_abc", "invalid"],
  ["text with blanks is not a domain", "my password. secret", "invalid"],
  ["nothing follows the at sign", "ada@", "invalid"],
  ["a long text is not a domain", `a@${"x.".repeat(200)}example`, "invalid"],
] as const;

for (const [name, entry, domain] of entries) {
  test(name, () => {
    const log = recordingLog();
    createAccessLog(log, 1)(LINE, { caller: callerAt("192.0.2.1"), entry }, 0);
    assert.deepEqual(log.lines[0]?.fields, {
      ...LINE,
      durationMs: 1.23,
      tier: "anonymous",
      domain,
    });
  });
}

test("an account is logged by its id and its key's", () => {
  const log = recordingLog();
  const caller = {
    owner: { kind: "account", accountId: "acc1" },
    tier: "pro",
    clientAddress: "192.0.2.1",
    keyId: "key1",
  } as const;
  createAccessLog(log, 1)(LINE, { caller, entry: undefined }, 0);
  assert.deepEqual(log.lines[0]?.fields, {
    ...LINE,
    durationMs: 1.23,
    tier: "pro",
    account: "acc1",
    key: "key1",
  });
});

test("a busy second is sampled, and the next line says how many were left out", () => {
  const log = recordingLog();
  const record = createAccessLog(log, 2);
  const detail = { caller: undefined, entry: undefined };
  for (let request = 0; request < 5; request += 1) record(LINE, detail, 10);
  record(LINE, detail, 1_010);
  assert.deepEqual(
    log.lines.map(({ fields }) => fields["leftOut"]),
    [undefined, undefined, 3],
  );
});

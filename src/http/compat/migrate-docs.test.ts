import assert from "node:assert/strict";
import { test } from "node:test";
import { compatWorld, form, json } from "../../../test/compat/compat-world.ts";
import { readDocument } from "../../../test/guards/docs-tables.ts";
import { SHAPES } from "./services.ts";

const PAGE = readDocument("docs/migrate.md");

test("the page begins with what is honest about mailboxes", () => {
  const [, first = ""] = PAGE.split("\n\n");
  assert.match(first, /mailbox.*GATEPOST_COMPAT_OPTIMISTIC/s);
});

test("every service has its base URL and an example that is answered", async (t) => {
  const { ask } = await compatWorld(t);
  const commands = [...PAGE.matchAll(/^curl .*$/gm)].map(([line]) => line);
  for (const { service } of SHAPES) {
    assert.ok(PAGE.includes(`\`/compat/${service}\``), service);
    const base = new RegExp(`:8080/compat/${service}[/?]`);
    const command = commands.find((line) => base.test(line)) ?? "";
    const url = /http:\/\/127\.0\.0\.1:8080([^'\s]+)/.exec(command)?.[1] ?? "";
    const data = / -d '([^']+)'/.exec(command)?.[1];
    const method = command.includes(" -X POST ") ? "POST" : "GET";
    const sent =
      data === undefined ? { method } : data.startsWith("{") ? json(JSON.parse(data)) : form(data);
    const { status, body } = await ask({ ...sent, url });
    assert.equal(status, 200, `${service}: ${command}`);
    assert.doesNotMatch(JSON.stringify(body), /"error"|failure/, command);
  }
});

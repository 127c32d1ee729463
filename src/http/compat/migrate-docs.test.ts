import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { compatWorld, form, json } from "../../../test/compat/compat-world.ts";
import { SHAPES } from "./services.ts";

const FOLDER = new URL("../../../../docs/migrate/", import.meta.url);
const page = (name: string): string => readFileSync(new URL(`${name}.md`, FOLDER), "utf8");
const SERVICES = SHAPES.map(({ service }) => service);

test("every service has a page, and the overview its base URL", () => {
  const pages = readdirSync(FOLDER).map((name) => name.replace(/\.md$/, ""));
  assert.deepEqual(pages.sort(), ["README", ...SERVICES].sort());
  for (const service of SERVICES)
    assert.ok(page("README").includes(`/compat/${service}\``), service);
});

test("every page begins with what is honest about mailboxes", () => {
  for (const name of ["README", ...SERVICES]) {
    const [, first = ""] = page(name).split("\n\n");
    assert.match(first, /mailbox/, name);
    if (name !== "README")
      assert.match(first.replaceAll("\n", " "), /GATEPOST_COMPAT_OPTIMISTIC/, name);
  }
});

test("the example of every page is answered", async (t) => {
  const { ask } = await compatWorld(t);
  for (const service of SERVICES) {
    const [, command = ""] = /^(curl .*)$/m.exec(page(service)) ?? [];
    const url = /http:\/\/127\.0\.0\.1:8080([^'\s]+)/.exec(command)?.[1] ?? "";
    const data = / -d '([^']+)'/.exec(command)?.[1];
    const sent =
      data === undefined ? {} : data.startsWith("{") ? json(JSON.parse(data)) : form(data);
    assert.ok(url.startsWith(`/compat/${service}/`), command);
    const { status, body } = await ask({ ...sent, url });
    assert.equal(status, 200, command);
    assert.doesNotMatch(JSON.stringify(body), /"error"|failure/, command);
  }
});

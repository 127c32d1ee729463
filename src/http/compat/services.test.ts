import { strict as assert } from "node:assert";
import { test } from "node:test";
import { testShape } from "../../../test/compat/compat-world.ts";
import { LISTS } from "../../../test/compat/lists.ts";
import { MAILBOXES } from "../../../test/compat/mailboxes.ts";
import { SHAPES } from "./services.ts";

const TABLES = { ...LISTS, ...MAILBOXES };

for (const [service, cases] of Object.entries(TABLES)) testShape(service, cases);

test("every service has its table of cases", () => {
  assert.deepEqual(Object.keys(TABLES).sort(), SHAPES.map(({ service }) => service).sort());
});

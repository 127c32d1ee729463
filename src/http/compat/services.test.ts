import { strict as assert } from "node:assert";
import { test } from "node:test";
import { abstractCases } from "../../../test/compat/services/abstract.ts";
import { aftershipCases } from "../../../test/compat/services/aftership.ts";
import { blockTemporaryEmailCases } from "../../../test/compat/services/block-temporary-email.ts";
import { debounceCases } from "../../../test/compat/services/debounce.ts";
import { debounceFreeCases } from "../../../test/compat/services/debounce-free.ts";
import { emailableCases } from "../../../test/compat/services/emailable.ts";
import { kickboxCases } from "../../../test/compat/services/kickbox.ts";
import { kickboxOpenCases } from "../../../test/compat/services/kickbox-open.ts";
import { mailcheckAiCases } from "../../../test/compat/services/mailcheck-ai.ts";
import { mailgunCases } from "../../../test/compat/services/mailgun.ts";
import { neverbounceCases } from "../../../test/compat/services/neverbounce.ts";
import { reacherCases } from "../../../test/compat/services/reacher.ts";
import { usercheckCases } from "../../../test/compat/services/usercheck.ts";
import { zerobounceCases } from "../../../test/compat/services/zerobounce.ts";
import { testShape } from "../../../test/compat/compat-world.ts";
import { SHAPES } from "./services.ts";

const TABLES = [
  kickboxOpenCases,
  debounceFreeCases,
  kickboxCases,
  debounceCases,
  usercheckCases,
  mailcheckAiCases,
  zerobounceCases,
  neverbounceCases,
  emailableCases,
  abstractCases,
  mailgunCases,
  reacherCases,
  aftershipCases,
  blockTemporaryEmailCases,
];

TABLES.forEach(testShape);

test("every service has its table of cases", () => {
  assert.deepEqual(
    TABLES.map(({ service }) => service).sort(),
    SHAPES.map(({ service }) => service).sort(),
  );
});

import { strict as assert } from "node:assert";
import { existsSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CLIENT_CASES } from "../../clients/cases.ts";
import { testWith } from "../../process/require-tool.ts";
import { pageBlocks } from "./guide-blocks.ts";
import { temporaryFolder } from "../../process/temporary-folder.ts";

const FRAMEWORKS = fileURLToPath(
  new URL("../../../../clients/typescript/frameworks/node_modules", import.meta.url),
);
const missing = existsSync(join(FRAMEWORKS, "jose"))
  ? []
  : ["jose (npm ci in clients/typescript/frameworks)"];

/** Faults that a JWT library finds; the page says what is left to check. */
const FOUND: readonly (string | undefined)[] = ["signature", "expired", "account"];

testWith(
  ["jose"],
  missing,
  "docs/tokens.md: a JWT library takes the good tokens alone",
  async () => {
    const [sample = ""] = pageBlocks("docs/tokens.md", "js");
    const folder = temporaryFolder();
    symlinkSync(FRAMEWORKS, join(folder, "node_modules"));
    const [imports = "", ...lines] = sample.trim().split("\n");
    const file = join(folder, "sample.mjs");
    writeFileSync(
      file,
      `${imports}\nexport const verify = async (token, accountId, process, currentDate) => {\n${lines
        .join("\n")
        .replace("audience: accountId", "audience: accountId, currentDate")}\nreturn payload;\n};`,
    );
    const { verify } = (await import(file)) as {
      verify: (token: string, account: string, at: object, now: Date) => Promise<{ dec: string }>;
    };
    const { secrets, account, cases } = CLIENT_CASES.tokens;
    let good = 0;
    for (const { name, token, now, fault } of cases) {
      const at = { env: { GATEPOST_TOKEN_SECRET: secrets[0] } };
      const told = await verify(token, account, at, new Date(now * 1_000)).catch(() => undefined);
      if (fault === undefined) good += told === undefined ? 0 : 1;
      else if (FOUND.includes(fault) && name !== "a list with the account")
        assert.equal(told, undefined, name);
    }
    assert.ok(good > 0);
  },
);

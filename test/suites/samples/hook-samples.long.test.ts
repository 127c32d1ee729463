import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { suite } from "node:test";
import { createAccount, serviceWorld } from "../../e2e/service-world.ts";
import { gatepost } from "../../e2e/service-process.ts";
import { readDocument } from "../../guards/docs-tables.ts";
import { testWithTools } from "../../process/require-tool.ts";

/** What a newcomer sees who runs the printed call, and with a wrong secret. */
const PAGES: Readonly<Record<string, readonly [status: number, words: RegExp]>> = {
  supabase: [
    200,
    /\{"error":\{"http_code":400,"message":"Please use a permanent email address\."\}\}$/,
  ],
  kratos: [400, /"#\/traits\/email".*Please use a permanent email address\..*"#\/"/],
  zitadel: [200, /\{"forwardedStatusCode":400,"forwardedErrorMessage":"Please use a permanent/],
  fusionauth: [422, /\{"error":"Please use a permanent email address\."\}$/],
  standard: [200, /\{"decision":"reject","reason":"disposable"/],
};

/** Where each of these says the language: changed in the printed call, the answer is German. */
const GERMAN: Readonly<Record<string, readonly [printed: string, german: string]>> = {
  supabase: ['"user_metadata":{}', '"user_metadata":{"language":"de-AT"}'],
  kratos: ['"flow_type"', '"language":"de-AT,de;q=0.9,en;q=0.5","flow_type"'],
};

function printedCall(system: string): string {
  const [, page = ""] = readDocument("docs/hooks.md").split(new RegExp(`^## ${system}\n`, "im"));
  const [, code = assert.fail("no call")] = /Try it:\n\n```sh\n([^]*?)```/.exec(page) ?? [];
  return code;
}

/** Its own body in the call of Supabase, which signs in the same way. */
function standardCall(): string {
  const supabase = printedCall("supabase");
  const call = supabase.replace(/^body=.*\n/, () => printedCall("standard"));
  assert.notEqual(call, supabase);
  return call;
}

suite("the printed calls of the hook pages", () => {
  const world = serviceWorld();
  for (const [system, [status, words]] of Object.entries(PAGES)) {
    testWithTools(["curl"], `${system}: a throwaway is refused`, async () => {
      const code = system === "standard" ? standardCall() : printedCall(system);
      const { account_id: account } = createAccount(world.home, `${system}@shop.example`);
      const made = gatepost(world.home, ["hook", "create", account, system, "--json"]);
      const { id, secret } = JSON.parse(made.out) as { id: string; secret: string };
      const run = (SECRET: string, call = code): string => {
        const env = { ...process.env, URL: `${world.service.url}/hooks/${id}`, SECRET };
        return execFileSync("sh", ["-c", call], { env, encoding: "utf8" }).trim();
      };
      const seen = run(secret);
      assert.match(seen, new RegExp(`^HTTP/1.1 ${String(status)} `));
      assert.match(seen, words);
      const [printed, german] = GERMAN[system] ?? [];
      if (printed !== undefined && german !== undefined) {
        assert.ok(code.includes(printed));
        const said = run(secret, code.replace(printed, german));
        assert.match(said, /Bitte verwenden Sie eine dauerhafte E-Mail-Adresse\./);
      }
      assert.match(run(secret.replace(/.{8}$/, "AAAAAAA=")), /^HTTP\/1.1 401 /);
    });
  }
});

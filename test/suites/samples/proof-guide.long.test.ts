import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { temporaryFolder } from "../../process/temporary-folder.ts";
import { guideBlocks } from "./guide-blocks.ts";

/** What the sample says, by whether the browser filled the field and whether the session is that of the form. */
const SAID = [
  ["filled", "Welcome.", true],
  ["empty", "We sent you a code.", false],
  ["again, without the session's nonce", "We sent you a code.", false],
] as const;

const EXPRESS_RUN = `
const session = {};
const said = [];
const post = async (evt) => {
  const response = { send: (text) => said.push([text, "evt" in asked.at(-1)]), status: () => response };
  await signUp({ session, body: { email: "jo@mail.example", evt } }, response);
};
const show = () => {
  let page = "";
  showForm({ session }, { send: (text) => (page = text) });
  return page.includes('nonce="' + session.evtNonce + '"') && session.evtNonce.length >= 22;
};
const shown = show();
await post("good");
show();
await post("");
await post("good");
console.log(JSON.stringify({ shown, said }));
`;

function assertSaid(program: string, file: string): void {
  const env = { ...process.env, GATEPOST_URL: "http://127.0.0.1:9" };
  const { stdout, stderr } = spawnSync(program, [file], { encoding: "utf8", env });
  const want = { shown: true, said: SAID.map(([, text, hasProof]) => [text, hasProof]) };
  assert.deepEqual(JSON.parse(stdout || `"${stderr.slice(-500)}"`), want);
}

suite("docs/guides/proof.md", () => {
  test("Express: the nonce belongs to the session and is used once", () => {
    const [sample = ""] = guideBlocks("proof", "js");
    const file = join(temporaryFolder(), "sample.mjs");
    const client = `const asked = [];
const createGatepost = () => ({
  decide: async (email, options) => {
    asked.push(options);
    return { decision: "accept", ...(options.evt === "good" && options.nonce && { verified: "yes" }) };
  },
});`;
    const own = sample.replace(/^import .* from "gatepost-client";$/m, client);
    writeFileSync(file, own + EXPRESS_RUN);
    assertSaid("node", file);
  });
});

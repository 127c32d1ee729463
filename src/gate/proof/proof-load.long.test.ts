import assert from "node:assert/strict";
import { test } from "node:test";
import { issuerWorld, KEYS, METADATA, piecesFor, tokenOf } from "../../../test/proof/issuer.ts";

const GOOD = piecesFor();

test("10,000 tokens with unknown key ids fetch the keys once a minute, and one at a time", async () => {
  const { verify, asked, wait, most } = issuerWorld();
  const browsers = { ...GOOD, sealed: (evt: string) => evt.replace(/[^.]*$/, "AA") };
  for (let round = 0; round < 100; round += 1) {
    const tokens = Array.from({ length: 100 }, (_, at) =>
      tokenOf({ ...browsers, head: { ...GOOD.head, kid: `k${String(round * 100 + at)}` } }),
    );
    const proofs = await Promise.all(tokens.map((token) => verify(token)));
    assert.ok(proofs.every(({ verified }) => verified === "no"));
  }
  assert.deepEqual([asked, most()], [[METADATA, KEYS], 1]);
  wait(60_000);
  await verify(tokenOf({ ...GOOD, head: { ...GOOD.head, kid: "k" } }));
  assert.deepEqual(asked, [METADATA, KEYS, KEYS]);
});

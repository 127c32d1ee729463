// What registries, key servers and issuers of proofs answer, as long as each may be and of the worst form.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readDomainAnswer } from "../../src/check/rdap/domain-answer.ts";
import { createHookKeys } from "../../src/gate/hook-signatures.ts";
import { createFetchJson } from "../../src/gate/published-json.ts";
import {
  ISSUER_KEYS,
  issuerWorld,
  jwkOf,
  KEYS,
  METADATA,
  piecesFor,
  reply,
  tokenOf,
} from "../proof/issuer.ts";
import { leastOf, longestTurnMs, TURN_MAX_MS } from "../time/longest-turn.ts";

/** `unit` between `head` and `tail`, again and again, up to this many octets. */
const filled = (octets: number, head: string, unit: string, tail: string): string =>
  head +
  Array(Math.floor((octets - head.length - tail.length) / (unit.length + 1)))
    .fill(unit)
    .join(",") +
  tail;

const DOMAIN = '{"objectClassName":"domain","ldhName":"a.example","events":';
const EVENT = '{"eventAction":"registration","eventDate":"2020-01-01T00:00:00.000000000000+00:00"}';
const JWK = JSON.stringify({ ...jwkOf(ISSUER_KEYS.RS256), kid: "RS256" });

/** Forms of a document that holds `unit` many times. */
const forms = (
  octets: number,
  head: string,
  unit: string,
  tail: string,
): readonly [string, string][] => [
  ["what belongs there, many times", filled(octets, `${head}[`, unit, `]${tail}`)],
  ["empty objects", filled(octets, `${head}[`, "{}", `]${tail}`)],
  ["nesting", head + "[".repeat(octets / 2) + "]".repeat(octets / 2) + tail],
  ["nesting that never ends", head + '{"a":'.repeat(octets / 5)],
  ["names", filled(octets, `${head}[{`, '"kid":"1"', `}]${tail}`)],
  ["a long number", `${head}[${"9".repeat(octets)}]${tail}`],
  ["escapes", `${head}["${"\\u0041".repeat(octets / 6)}"]${tail}`],
];

for (const [what, text] of forms(131_000, DOMAIN, EVENT, "}")) {
  test(`no turn takes more than ${String(TURN_MAX_MS)} ms for an answer of a registry: ${what}`, async () => {
    const body = Buffer.from(text);
    const ms = await leastOf(() =>
      longestTurnMs(() => Promise.resolve(readDomainAnswer(body, "a.example"))),
    );
    assert.ok(ms <= TURN_MAX_MS, `${ms.toFixed(0)} ms`);
  });
}

for (const [what, text] of forms(65_000, '{"keys":', JWK, "}")) {
  test(`no turn takes more than ${String(TURN_MAX_MS)} ms for published keys: ${what}`, async () => {
    const clock = { monotonicMs: () => 0 };
    const ms = await leastOf(() => {
      const http = () => Promise.resolve(reply(text));
      const keysAt = createHookKeys(createFetchJson({ http }, clock), clock);
      return longestTurnMs(async () => {
        const asked = keysAt("https://keys.example.com/jwks", "a1")("RS256");
        await asked.catch(() => "none");
      });
    });
    assert.ok(ms <= TURN_MAX_MS, `${ms.toFixed(0)} ms`);
  });

  test(`no turn takes more than ${String(TURN_MAX_MS)} ms for an issuer of proofs: ${what}`, async () => {
    for (const url of [METADATA, KEYS]) {
      const ms = await leastOf(() => {
        const { verify, publish } = issuerWorld();
        publish(url, reply(text));
        return longestTurnMs(() => verify(tokenOf(piecesFor("RS256"))));
      });
      assert.ok(ms <= TURN_MAX_MS, `${url}: ${ms.toFixed(0)} ms`);
    }
  });
}

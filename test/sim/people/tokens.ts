import { createHash, createPublicKey, type JsonWebKey, verify } from "node:crypto";
import type { Front } from "../front.ts";

/** What a token must say. */
interface Said {
  readonly decision: string;
  readonly policy: { readonly name: string; readonly version: number };
}

interface Claims {
  readonly sub: string;
  readonly dec: string;
  readonly pol: string;
  readonly jti: string;
  readonly iat: number;
  readonly exp: number;
}

const LIFE_SECONDS = 600;
/** Clocks, and the way of the answer. */
const SLACK_SECONDS = 60;

const STRANGER = { key: "stranger", headers: {}, address: "203.0.113.77" };

const partOf = <T>(text: string): T => JSON.parse(Buffer.from(text, "base64url").toString()) as T;

/** A backend that verifies tokens with the published keys. */
export class Tokens {
  readonly #front: Front;
  readonly #seen = new Set<string>();
  readonly #keys = new Map<string, JsonWebKey>();

  constructor(front: Front) {
    this.#front = front;
  }

  async check(address: string, said: Said, token: string): Promise<void> {
    const [head = "", claims = "", signature = ""] = token.split(".");
    const key = await this.#keyOf(partOf<{ kid: string }>(head).kid);
    if (key === undefined) return;
    const publicKey = createPublicKey({ key, format: "jwk" });
    const signed = Buffer.from(`${head}.${claims}`);
    if (!verify(null, signed, publicKey, Buffer.from(signature, "base64url"))) {
      this.#front.wrong("a token's signature is wrong");
    }
    this.#checkClaims(address, said, partOf<Claims>(claims));
  }

  #checkClaims(address: string, { decision, policy }: Said, claims: Claims): void {
    const front = this.#front;
    const { sub, dec, pol, jti, iat, exp } = claims;
    const given = [sub, dec, pol, exp - iat].join(" ");
    const about = createHash("sha256").update(address).digest("base64url");
    const right = [about, decision, `${policy.name}@${String(policy.version)}`, LIFE_SECONDS];
    if (given !== right.join(" ")) front.wrong(`a token says ${given}`);
    const nowSeconds = (front.world.timeline.beganMs + front.world.timeline.nowMs) / 1_000;
    const slackSeconds = SLACK_SECONDS + front.weather.heldUpMs / 1_000;
    if (Math.abs(nowSeconds - iat) > slackSeconds) front.wrong("a token is old");
    if (this.#seen.has(jti)) front.wrong("two answers have one token");
    this.#seen.add(jti);
  }

  async #keyOf(kid: string): Promise<JsonWebKey | undefined> {
    if (!this.#keys.has(kid)) {
      const order = { method: "GET", url: "/.well-known/jwks.json" } as const;
      const { status, body } = await this.#front.ask(STRANGER, order);
      if (status !== 200) return undefined;
      const { keys } = JSON.parse(body) as { keys: readonly (JsonWebKey & { kid: string })[] };
      for (const key of keys) this.#keys.set(key.kid, key);
    }
    const known = this.#keys.get(kid);
    if (known === undefined) this.#front.wrong("a token's key is not published");
    return known;
  }
}

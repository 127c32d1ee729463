import { createHash } from "node:crypto";
import type { Front } from "../front.ts";

/** What a token must say. */
interface Said {
  readonly decision: string;
  readonly policy: { readonly name: string; readonly version: number };
}

interface Claims {
  readonly aud: string;
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

/** A backend that looks at what its tokens say. */
export class Tokens {
  readonly #front: Front;
  readonly #seen = new Set<string>();

  constructor(front: Front) {
    this.#front = front;
  }

  /** `owner`: "account:ID". */
  check(owner: string, address: string, said: Said, token: string): void {
    const front = this.#front;
    const claims = JSON.parse(
      Buffer.from(token.split(".")[1] ?? "", "base64url").toString(),
    ) as Claims;
    const { aud, sub, dec, pol, jti, iat, exp } = claims;
    const given = [`account:${aud}`, sub, dec, pol, exp - iat].join(" ");
    const about = createHash("sha256").update(address).digest("base64url");
    const policy = `${said.policy.name}@${String(said.policy.version)}`;
    const right = [owner, about, said.decision, policy, LIFE_SECONDS].join(" ");
    if (given !== right) front.wrong(`a token says ${given}`);
    const nowSeconds = (front.world.timeline.beganMs + front.world.timeline.nowMs) / 1_000;
    const slackSeconds = SLACK_SECONDS + front.weather.heldUpMs / 1_000;
    if (Math.abs(nowSeconds - iat) > slackSeconds) front.wrong("a token is old");
    if (this.#seen.has(jti)) front.wrong("two answers have one token");
    this.#seen.add(jti);
  }
}

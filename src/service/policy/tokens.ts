import { trimEntry } from "../../core/address/trim.ts";
import {
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  sign as signBytes,
} from "node:crypto";
import type { Decision } from "../../core/policy/policy.ts";
import type { Clock } from "../../ports/process/clock.ts";
import type { Ids } from "../../ports/process/ids.ts";
import type { Log } from "../../ports/process/log.ts";
import type { SigningKey, SigningKeys } from "../../ports/policy/signing-keys.ts";
import type { SecretBox } from "../../ports/webhooks/secret-box.ts";

/** The content of a token about a sign-up. */
export interface TokenContent {
  /** As the caller sent it: only its hash is in the token. */
  readonly address: string;
  readonly domain: string;
  readonly decision: Decision;
  readonly reason: string;
  /** "name@version" */
  readonly policy: string;
  readonly form?: string;
  readonly isComplete: boolean;
}

/** A compact JWS (RFC 7515, RFC 8037); undefined while no key is loaded. */
export type SignToken = (content: TokenContent) => string | undefined;

/** RFC 7517. */
export interface Jwks {
  readonly keys: readonly Readonly<Record<string, string>>[];
}

export interface Tokens {
  readonly sign: SignToken;
  /** The public keys that verify valid tokens. */
  jwks(): Promise<Jwks>;
  /** Makes the installation's first key if there is none, and reads the current one. */
  load(): Promise<void>;
  /** A new key signs from now on; gives its id. The old public key is published for 24 h more. */
  rotate(): Promise<string>;
}

export interface TokensDeps {
  readonly keys: SigningKeys;
  readonly box: SecretBox;
  readonly publicUrl: () => string;
  readonly clock: Pick<Clock, "nowMs" | "monotonicMs">;
  readonly ids: Ids;
  readonly log: Pick<Log, "error">;
}

const TOKEN_SECONDS = 600;

/** How long the public half of a retired key is published: far longer than any token it signed. */
export const PUBLISHED_MS = 86_400_000;

/** How long the current key is used without reading it again. */
const BELIEVED_MS = 30_000;

/** How long the published keys are believed. */
const PUBLISHED_BELIEVED_MS = 1_000;

interface Signer {
  readonly kid: string;
  readonly head: string;
  readonly privateKey: KeyObject;
}

export function createTokens(deps: TokensDeps): Tokens {
  const held = new KeyHolder(deps);
  return {
    sign: (content) => {
      const signer = held.signer();
      return signer && signed(signer, claimsOf(content, deps));
    },
    jwks: () => held.jwks(),
    load: () => held.load(),
    async rotate() {
      const key = newKey(deps);
      await deps.keys.rotate(key);
      await held.load();
      return key.kid;
    },
  };
}

function claimsOf(content: TokenContent, { publicUrl, clock, ids }: TokensDeps): object {
  const iat = Math.floor(clock.nowMs() / 1_000);
  return {
    iss: publicUrl(),
    iat,
    exp: iat + TOKEN_SECONDS,
    jti: ids.hex32(),
    sub: createHash("sha256").update(trimEntry(content.address)).digest("base64url"),
    dom: content.domain,
    dec: content.decision,
    rsn: content.reason,
    pol: content.policy,
    form: content.form,
    cpl: content.isComplete,
  };
}

function signed({ head, privateKey }: Signer, claims: object): string {
  const input = `${head}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}`;
  return `${input}.${signBytes(null, Buffer.from(input), privateKey).toString("base64url")}`;
}

const about = (kid: string): string => `signing key ${kid}`;

function newKey({ box, clock }: TokensDeps): SigningKey {
  const { privateKey } = generateKeyPairSync("ed25519");
  const { x = "", d = "" } = privateKey.export({ format: "jwk" });
  // The thumbprint of RFC 7638, cut: it only has to tell few keys apart.
  const thumb = createHash("sha256").update(JSON.stringify({ crv: "Ed25519", kty: "OKP", x }));
  const kid = thumb.digest("base64url").slice(0, 16);
  return { kid, x, sealed: box.seal(d, about(kid)), createdAtMs: clock.nowMs() };
}

class KeyHolder {
  readonly #deps: TokensDeps;
  #signer: Signer | undefined;
  #readAtMs = -Infinity;
  #published: Jwks = { keys: [] };
  #publishedAtMs = -Infinity;
  #isReading = false;
  #publishing: Promise<Jwks> | undefined;

  constructor(deps: TokensDeps) {
    this.#deps = deps;
  }

  /** The loaded key; a check that it is still current runs in the background. */
  signer(): Signer | undefined {
    if (this.#deps.clock.monotonicMs() - this.#readAtMs >= BELIEVED_MS) this.#look();
    return this.#signer;
  }

  async load(): Promise<void> {
    const { keys, box, clock, log } = this.#deps;
    const [known] = (await keys.list(clock.nowMs())).filter((key) => key.retiredAtMs === undefined);
    const key = known ?? (await keys.agree(newKey(this.#deps)));
    this.#readAtMs = clock.monotonicMs();
    if (key.kid === this.#signer?.kid) return;
    const d = box.open(key.sealed, about(key.kid));
    if (d === undefined) {
      const fault = new Error(`signing key ${key.kid} was sealed with another secret key`);
      log.error("signing_key.unreadable", fault);
      this.#signer = undefined;
      return;
    }
    const jwk = { kty: "OKP", crv: "Ed25519", x: key.x, d };
    const header = JSON.stringify({ alg: "EdDSA", kid: key.kid, typ: "gatepost+jwt" });
    this.#signer = {
      kid: key.kid,
      head: Buffer.from(header).toString("base64url"),
      privateKey: createPrivateKey({ key: jwk, format: "jwk" }),
    };
  }

  #look(): void {
    if (this.#isReading) return;
    this.#isReading = true;
    this.load()
      .catch((fault: unknown) => this.#deps.log.error("signing_key.read_failed", fault))
      .finally(() => {
        this.#isReading = false;
      });
  }

  /** A store that is away leaves the keys published that were. */
  async jwks(): Promise<Jwks> {
    const { clock, log } = this.#deps;
    if (clock.monotonicMs() - this.#publishedAtMs < PUBLISHED_BELIEVED_MS) return this.#published;
    this.#publishing ??= this.#publish().finally(() => {
      this.#publishing = undefined;
    });
    try {
      return await this.#publishing;
    } catch (fault) {
      if (this.#published.keys.length === 0) throw fault;
      log.error("signing_key.read_failed", fault);
      return this.#published;
    }
  }

  async #publish(): Promise<Jwks> {
    const { keys, clock } = this.#deps;
    const known = await keys.list(clock.nowMs() - PUBLISHED_MS);
    this.#published = {
      keys: known.map(({ kid, x }) => ({
        kty: "OKP",
        crv: "Ed25519",
        x,
        kid,
        use: "sig",
        alg: "EdDSA",
      })),
    };
    this.#publishedAtMs = clock.monotonicMs();
    return this.#published;
  }
}

import { createHash, createHmac, randomBytes } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import { badField, notNow } from "../../base/refusals.ts";
import { base32, type SecretBox } from "../../base/secrets.ts";
import type { Account, Accounts } from "../accounts-store.ts";
import type { Audit } from "../audit.ts";
import type { Visitor } from "./sign-ins.ts";

const STEP_MS = 30_000;
const SECRET_BYTES = 20;
const RECOVERY_CODES = 10;
/** 80 bits, so that a plain hash keeps them. */
const RECOVERY_BYTES = 10;
const SET_UP_MS = 600_000;

/** The code for a counter (RFC 4226 section 5.3). */
export function counterCode(secret: Uint8Array, counter: number, digits = 6): string {
  const message = Buffer.alloc(8);
  message.writeBigUInt64BE(BigInt(counter));
  const mac = createHmac("sha1", secret).update(message).digest();
  const number = mac.readUInt32BE((mac.at(-1) ?? 0) & 15) & 0x7fffffff;
  return String(number % 10 ** digits).padStart(digits, "0");
}

/** The time step (RFC 6238) whose code it is, one of drift allowed either way; undefined: it is none of a later step. */
function stepOf(
  secret: Uint8Array,
  code: string,
  { nowMs, after }: { readonly nowMs: number; readonly after: number },
): number | undefined {
  const now = Math.floor(nowMs / STEP_MS);
  return [now - 1, now, now + 1].find((step) => step > after && counterCode(secret, step) === code);
}

const hashOf = (code: string): string => createHash("sha256").update(code).digest("hex");

interface Kept {
  readonly sealed: string;
  /** The last step whose code was used: an older code is never accepted. */
  readonly step: number;
  readonly codes: readonly string[];
}

interface SecondFactorDeps {
  readonly accounts: Pick<Accounts, "replaceSecondFactor">;
  readonly box: SecretBox;
  readonly audit: Audit;
  readonly clock: Pick<Clock, "nowMs">;
}

/** Codes of an authenticator app, asked for behind the password. Nothing is stored before the first code was right. */
export class SecondFactors {
  readonly #deps: SecondFactorDeps;

  constructor(deps: SecondFactorDeps) {
    this.#deps = deps;
  }

  /** `set_up` is the secret, sealed: nothing is stored until it comes back with a code. */
  begin({ id, email, secondFactor }: Account) {
    if (secondFactor !== undefined) throw notNow("The second factor is on. Remove it first.");
    const octets = randomBytes(SECRET_BYTES);
    const secret = base32(octets);
    const untilMs = this.#deps.clock.nowMs() + SET_UP_MS;
    const set_up = this.#deps.box.seal(
      JSON.stringify([octets.toString("base64"), untilMs]),
      `set-up ${about(id)}`,
    );
    const label = `Gatepost:${encodeURIComponent(email)}`;
    return { secret, uri: `otpauth://totp/${label}?secret=${secret}&issuer=Gatepost`, set_up };
  }

  /** Switches it on with the first code; returns the recovery codes, which are not kept in clear. */
  async finish(
    { id }: Account,
    { set_up, code }: { readonly set_up: string; readonly code: string },
  ): Promise<readonly string[]> {
    const { accounts, box, clock } = this.#deps;
    const nowMs = clock.nowMs();
    const opened = box.open(set_up, `set-up ${about(id)}`);
    const [secret, untilMs] = JSON.parse(opened ?? '["",0]') as readonly [string, number];
    if (untilMs <= nowMs)
      throw notNow("This set-up is over: it ends after 10 minutes. Begin again.");
    const step = stepOf(Buffer.from(secret, "base64"), plain(code), { nowMs, after: 0 });
    if (step === undefined)
      throw badField("That is not the current code. Check the device's clock.");
    const codes = Array.from({ length: RECOVERY_CODES }, () => base32(randomBytes(RECOVERY_BYTES)));
    const kept: Kept = { sealed: box.seal(secret, about(id)), step, codes: codes.map(hashOf) };
    if (!(await accounts.replaceSecondFactor(id, null, JSON.stringify(kept)))) {
      throw notNow("The second factor is on. Remove it first.");
    }
    return codes;
  }

  /** Whether it is a code of now or a recovery code. Uses it up: of two that bring it at once one is accepted. */
  async accepts(
    { id, secondFactor }: Account,
    given: string,
    { clientAddress }: Visitor,
  ): Promise<boolean> {
    const { accounts, audit, clock } = this.#deps;
    if (secondFactor === undefined) return false;
    const kept = JSON.parse(secondFactor) as Kept;
    const code = plain(given);
    const next = /^\d{6}$/.test(code)
      ? this.#stepped(id, kept, { code, nowMs: clock.nowMs() })
      : { ...kept, codes: kept.codes.filter((known) => known !== hashOf(code)) };
    const left = next?.codes.length ?? 0;
    const isRecovery = next !== undefined && left < kept.codes.length;
    if (next === undefined || (!isRecovery && next.step === kept.step)) return false;
    if (!(await accounts.replaceSecondFactor(id, secondFactor, JSON.stringify(next)))) return false;
    const detail = `a recovery code was used, ${String(left)} left`;
    const who = { actorId: id, accountId: id, clientAddress };
    if (isRecovery) await audit({ action: "account.second_factor", ...who, detail });
    return true;
  }

  #stepped(
    id: string,
    kept: Kept,
    { code, nowMs }: { readonly code: string; readonly nowMs: number },
  ): Kept | undefined {
    const secret = this.#deps.box.open(kept.sealed, about(id));
    if (secret === undefined) return undefined; // sealed with another secret key: recovery codes still work
    const step = stepOf(Buffer.from(secret, "base64"), code, { nowMs, after: kept.step });
    return step === undefined ? undefined : { ...kept, step };
  }
}

const about = (id: string): string => `second factor of ${id}`;

/** Full-width digits, as keyboards for East Asia write them, are digits. */
const plain = (code: string): string => code.normalize("NFKC").replace(/[\s-]/g, "").toUpperCase();

import { type Address, addressKey } from "../address/address.ts";
import { keyOf } from "./batch.ts";

/** One address, wherever it stands in a list, in any case. */
export class SoughtAddress {
  readonly #key: string;
  readonly #user: string;
  readonly #forms: readonly string[];
  readonly #text: RegExp;

  constructor(address: Address) {
    this.#key = addressKey(address);
    this.#user = address.localPart.toLowerCase();
    this.#forms = [...new Set([this.#key, `${address.localPart}@${address.domain.name}`])];
    this.#text = this.#pattern((form) => form);
  }

  #pattern(written: (form: string) => string): RegExp {
    const forms = this.#forms.map((form) => written(form).replace(/[^\w@]/g, "\\$&"));
    return new RegExp(`(?<![\\w.+-])(?:${forms.join("|")})(?![\\w-]|\\.\\w)`, "gi");
  }

  isIn(entry: string): boolean {
    if (!entry.includes("@")) return false;
    return keyOf(entry) === this.#key || this.without(entry) !== entry;
  }

  /** `text` with nothing where the address stands. `written`: how text of the list is written in it. */
  without(text: string, written?: (form: string) => string): string {
    return text.replace(written === undefined ? this.#text : this.#pattern(written), "");
  }

  /** Whether a text may hold it, seen quickly. */
  mayBeIn(text: string): boolean {
    return /[^ -~]/.test(this.#user) || text.toLowerCase().includes(this.#user);
  }
}

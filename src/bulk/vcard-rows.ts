import { CELL_MAX_UNITS, type RawRow } from "../core/batch/csv-reader.ts";
import { linesOf } from "./object-rows.ts";

export const isVcard = (head: string): boolean => /^\s*BEGIN:VCARD\s/i.test(head.slice(0, 1_000));

/** A row for each card (RFC 6350), with its name and its addresses. */
export async function* vcardRows(texts: AsyncIterable<string>): AsyncGenerator<readonly RawRow[]> {
  yield [{ cells: ["name", "email"], line: 0 }];
  const cards = new CardReader();
  for await (const lines of linesOf(texts)) yield cards.push(lines);
  yield cards.end();
}

class CardReader {
  #line = 0;
  #startLine = 0;
  #text = "";
  #name = "";
  #addresses = "";
  #rows: RawRow[] = [];

  push(lines: readonly string[]): readonly RawRow[] {
    for (const line of lines) {
      this.#line += 1;
      const isFolded = /^[ \t]/.test(line) || this.#isSoft();
      if (!isFolded) {
        this.#read(this.#text);
        this.#text = line;
      } else if (this.#text.length < CELL_MAX_UNITS) {
        this.#text = this.#isSoft()
          ? this.#text.slice(0, -1) + line.trimStart()
          : this.#text + line.slice(1);
      }
    }
    return this.#rows.splice(0);
  }

  /** A line break inside quoted-printable text, as vCard 2.1 has it. */
  #isSoft(): boolean {
    return this.#text.endsWith("=") && /^[^:]*QUOTED-PRINTABLE[^:]*:/i.test(this.#text);
  }

  end(): readonly RawRow[] {
    this.#read(this.#text);
    this.#endCard();
    return this.#rows;
  }

  #read(line: string): void {
    const colon = line.indexOf(":");
    const [group = "", ...parameters] = line.slice(0, Math.max(colon, 0)).split(";");
    const property = group.slice(group.lastIndexOf(".") + 1).toUpperCase();
    const value = (): string => valueOf(line.slice(colon + 1), parameters.join(";"));
    if (property === "BEGIN") {
      this.#endCard();
      this.#startLine = this.#line - 1;
    } else if (property === "END") this.#endCard();
    else if (property === "FN") this.#name = value();
    else if (property === "EMAIL")
      this.#addresses += `${this.#addresses === "" ? "" : "; "}${value()}`;
  }

  #endCard(): void {
    if (this.#startLine === 0) return;
    const line = this.#startLine;
    const isLong = this.#addresses.length > CELL_MAX_UNITS;
    const fault = `The card on line ${String(line)} has more than ${String(CELL_MAX_UNITS)} characters of addresses.`;
    const cells = [this.#name, this.#addresses.slice(0, CELL_MAX_UNITS)];
    this.#rows.push({ cells, line, ...(isLong && { fault }) });
    [this.#startLine, this.#name, this.#addresses] = [0, "", ""];
  }
}

function valueOf(value: string, parameters: string): string {
  const text = /QUOTED-PRINTABLE/i.test(parameters)
    ? Buffer.from(
        value.replace(/=([0-9A-F]{2})/gi, (_, hex: string) =>
          String.fromCharCode(parseInt(hex, 16)),
        ),
        "latin1",
      ).toString()
    : value;
  return text
    .replace(/\\([,;\\])/g, "$1")
    .replace(/\\n/gi, " ")
    .trim();
}

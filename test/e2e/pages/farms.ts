import type { AccountStore } from "../../../src/main/store.ts";
import type { DecisionRow } from "../../../src/store/tables/policy.ts";

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const hashOf = (at: number): string =>
  String(at)
    .padStart(26, "0")
    .replaceAll(/./g, (digit) => BASE32[Number(digit)] ?? "A");

interface Sign {
  readonly domain: string;
  readonly mailbox?: string;
  readonly net?: string;
  readonly shape?: string;
  readonly decision?: DecisionRow["decision"];
}

/** Who signed up as the `at`-th of a day: of a hundred, three are of one farm, two of another and four of the last. */
function signOf(at: number): Sign {
  const place = at % 100;
  if (place === 1 || place === 36 || place === 71)
    return { domain: "young.example", decision: at % 700 === 1 ? "accept" : "review" };
  if (at % 50 === 2) return { domain: "gmail.com", mailbox: hashOf(99_999_999), shape: "mixed" };
  if (at % 25 === 4) return { domain: `web${String(at)}.example`, net: "net:FARMFARM" };
  return at % 2 === 0
    ? { domain: "gmail.com", shape: "letters+0" }
    : { domain: `shop${String(at % 600)}.example` };
}

/** The decisions of a day with 2,000 sign-ups, of which 60, 40 and 80 are three farms'. */
export async function logFarms({ sql, switches }: AccountStore, accountId: string): Promise<void> {
  await switches.switchLog(accountId, "on");
  const nowMs = Date.now();
  const rows = Array.from({ length: 2_000 }, (_, at): DecisionRow => {
    const { domain, mailbox, net, shape, decision = "accept" } = signOf(at);
    const atMs = nowMs - at * 30_000;
    return {
      account_id: accountId,
      id: `${String(atMs).padStart(14, "0")}${String(at).padStart(10, "0")}`,
      at_ms: atMs,
      decision,
      reason: decision === "review" ? "fresh_domain" : "ok",
      rule: null,
      policy: "default",
      version: 1,
      signals: decision === "review" ? "fresh_domain" : "",
      domain,
      mailbox: `m_${mailbox ?? hashOf(at)}`,
      form: "sign-up",
      key_id: null,
      complete: 1,
      subject: null,
      asked: "signup",
      sources: `ip:${hashOf(at).slice(-8)} ${net ?? `net:${hashOf(at + 5_000).slice(-8)}`}`,
      shape: shape ?? null,
    };
  });
  for (let from = 0; from < rows.length; from += 500) {
    await sql.db
      .insertInto("decisions")
      .values(rows.slice(from, from + 500))
      .execute();
  }
}

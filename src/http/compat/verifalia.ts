import { badParameter, missingParameter, Refusal } from "../../base/refusals.ts";
import type { ShapeFacts, ShapeVerdict } from "./facts.ts";
import { BATCH_MAX, byMessage, inPortions, type Shape } from "./shape.ts";

/** classification, status */
const WORDS: Readonly<Record<ShapeVerdict, readonly [string, string]>> = {
  syntax: ["Undeliverable", "InvalidCharacterInSequence"],
  disposable: ["Risky", "DomainIsWellKnownDea"],
  no_mail: ["Undeliverable", "DomainIsMisconfigured"],
  trap: ["Risky", "MailExchangerIsHoneypot"],
  role: ["Risky", "LocalPartIsWellKnownRoleAccount"],
  unknown: ["Unknown", "DnsQueryTimeout"],
  good: ["Deliverable", "Success"],
  takes: ["Unknown", "MailboxConnectionFailure"],
};

function shown(facts: ShapeFacts): object {
  const { result, domain, meant } = facts;
  const [classification, status] = WORDS[facts.verdict];
  return {
    completedOn: facts.at,
    ...(result.format && {
      emailAddress: facts.entry,
      emailAddressLocalPart: facts.user,
      emailAddressDomainPart: domain,
      asciiEmailAddressDomainPart: domain,
    }),
    isDisposableEmailAddress: result.disposable,
    isFreeEmailAddress: result.free,
    isRoleAccount: result.role,
    status,
    classification,
    suggestions: meant === null ? [] : [meant],
  };
}

const UNPAID = { classification: "Unknown", status: "UnhandledException" };

/** Nothing is kept: the job is over when its answer is sent. */
const JOB = "00000000-0000-0000-0000-000000000000";
const jobs = Array.from({ length: 10 }, (_, minor) => `v2.${String(minor)}/email-validations`);

const textAt = (row: unknown): string => {
  const text = (row as { inputData?: unknown } | null)?.inputData;
  if (typeof text !== "string" || text === "") throw missingParameter("inputData");
  return text;
};

/** api-1.verifalia.com, as far as a client submits addresses, reads its balance and cleans up. */
export const verifalia: Shape = {
  service: "verifalia",
  keys: [{ scheme: "basic" }, { scheme: "bearer" }],
  parameters: ["entries"],
  endpoints: [
    {
      methods: ["POST"],
      paths: jobs,
      async answer(asked) {
        const rows = asked.params.value("entries");
        if (!Array.isArray(rows) || rows.length === 0 || rows.length > BATCH_MAX) {
          throw badParameter("entries", `an array of 1 to ${String(BATCH_MAX)} addresses`);
        }
        const texts = rows.map(textAt);
        const refusals: Refusal[] = [];
        const found = await inPortions(texts, asked, async (text) => {
          try {
            return shown(await asked.check(text));
          } catch (error) {
            if (!(error instanceof Refusal)) throw error;
            refusals.push(error);
            return UNPAID;
          }
        });
        const [refusal] = refusals;
        if (refusal !== undefined && refusals.length === texts.length) throw refusal;
        const data = found.map((each, index) => ({ index, inputData: texts[index], ...each }));
        const overview = { id: JOB, status: "Completed", noOfEntries: data.length };
        return { body: { overview, entries: { data, meta: { isTruncated: false } } } };
      },
    },
    {
      methods: ["GET", "DELETE"],
      paths: jobs.map((path) => `${path}/*`),
      answer: () => Promise.resolve({ status: 410, body: {} }),
    },
    {
      paths: jobs.map((path) => path.replace("email-validations", "credits/balance")),
      answer: async ({ unitsLeft }) => ({ body: { creditPacks: await unitsLeft() } }),
    },
  ],
  refused: byMessage({ quota: 402 }),
};

import { Type } from "typebox";
import { fateOf } from "../../core/tally.ts";
import type { FullResult } from "../../core/result.ts";
import type { Account } from "../../ports/accounts.ts";
import type {
  BulkResults,
  BulkService,
  BulkStats,
  SpelledResult,
} from "../../service/bulk/bulk.ts";
import type { Entrance, Gate } from "../../service/gate.ts";
import { notNow } from "../../service/refusals.ts";
import { textField } from "./fields.ts";
import { type AccountReply, type AccountRoute, done, json, type SignedInRequest } from "./route.ts";

export interface ListDeps {
  readonly gate: Pick<Gate, "enterAs">;
  readonly bulk: BulkService;
}

/** The transport's limit stands before it: six octets of JSON for one character at the worst. */
const LIST_MAX_CHARACTERS = 6_100_000;

/** Whole lists: start, watch, read, forget. The session is in the path. */
export function listRoutes(deps: ListDeps): readonly AccountRoute[] {
  return [
    startRoute(deps),
    stateRoute(deps),
    rowsRoute(deps),
    ...fileRoutes(deps),
    forgetRoute(deps),
  ];
}

async function enter(
  gate: ListDeps["gate"],
  { account, visitor }: { readonly account: Account; readonly visitor: SignedInRequest["visitor"] },
): Promise<Entrance> {
  const entrance = await gate.enterAs(account, visitor.clientAddress);
  if (entrance.refusal !== undefined) throw entrance.refusal;
  return entrance;
}

/** Reading costs nothing, so the account is known but not counted. */
const readerOf = ({ account, visitor }: SignedInRequest): Entrance["caller"] => ({
  owner: { kind: "account", accountId: account.id },
  tier: account.tier,
  clientAddress: visitor.clientAddress,
});

const startRoute = ({ gate, bulk }: ListDeps): AccountRoute => ({
  method: "POST",
  path: "lists",
  for: "account",
  largeBody: true,
  summary: "Check a list, one entry a line; small ones are done at once, others queued",
  body: Type.Object({ text: Type.String() }),
  async handle(request) {
    const text = textField(request.body, "text", LIST_MAX_CHARACTERS);
    const entrance = await enter(gate, request);
    const answer = await bulk.submit(entrance, { text, layout: "lines" });
    if (answer.kind === "queued") return json(answer.queued);
    return json({ session: answer.stats.session, status: "completed", stats: answer.stats });
  },
});

const stateRoute = ({ bulk }: ListDeps): AccountRoute => ({
  method: "GET",
  path: "lists/:id",
  for: "account",
  summary: "How far a list is, or what it came to",
  async handle(request) {
    const found = await bulk.results(readerOf(request), request.id);
    if (found.kind === "progress") return json(found.progress);
    return json({ session: request.id, status: "completed", stats: found.stats });
  },
});

type Finished = BulkResults & { readonly kind: "results" };

async function finished({ bulk }: ListDeps, request: SignedInRequest): Promise<Finished> {
  const found = await bulk.results(readerOf(request), request.id);
  if (found.kind === "progress") throw notNow("The list is not done yet.");
  return found;
}

/** One result as the results table needs it: entry, fate, confidence, signals, domain. */
function compact({ spelling, result }: SpelledResult): readonly unknown[] {
  // The program's own text, made from a `FullResult`.
  const full = JSON.parse(result) as FullResult;
  return [spelling, fateOf(full), full.confidence, full.signals, full.domain];
}

const rowsRoute = (deps: ListDeps): AccountRoute => ({
  method: "GET",
  path: "lists/:id/rows",
  for: "account",
  summary: "Every distinct spelling in short form, in pages of one line each",
  async handle(request) {
    const { results } = await finished(deps, request);
    return {
      lines: (async function* pages() {
        for await (const page of results()) yield page.map(compact);
      })(),
    };
  },
});

const fileRoutes = (deps: ListDeps): readonly AccountRoute[] => [
  {
    method: "GET",
    path: "lists/:id/valid",
    for: "account",
    summary: "The valid entries as a text file",
    async handle(request) {
      const view = await deps.bulk.view(readerOf(request), request.id);
      if (view.kind === "progress") throw notNow("The list is not done yet.");
      const pages = view.kind === "list" ? view.valid() : NO_PAGES;
      return file("valid_list.txt", "text/plain; charset=utf-8", validText(pages));
    },
  },
  {
    method: "GET",
    path: "lists/:id/json",
    for: "account",
    summary: "Session, stats and all results as a JSON file",
    async handle(request) {
      const { stats, results } = await finished(deps, request);
      return file("results.json", "application/json; charset=utf-8", jsonText(stats, results()));
    },
  },
];

const NO_PAGES: AsyncIterable<readonly string[]> = (async function* none() {})();

function file(name: string, type: string, chunks: AsyncIterable<string>): AccountReply {
  const headers = { "content-disposition": `attachment; filename=${name}` };
  return { headers, text: { type, chunks } };
}

async function* validText(pages: AsyncIterable<readonly string[]>): AsyncGenerator<string> {
  let isFirst = true;
  for await (const page of pages) {
    yield `${isFirst ? "" : "\n"}${page.join("\n")}`;
    isFirst = false;
  }
}

async function* jsonText(
  stats: BulkStats,
  pages: AsyncIterable<readonly SpelledResult[]>,
): AsyncGenerator<string> {
  yield `{"session":${JSON.stringify(stats.session)},"stats":${JSON.stringify(stats)},"results":{`;
  let comma = "";
  for await (const page of pages) {
    const members = page.map(({ spelling, result }) => `${JSON.stringify(spelling)}:${result}`);
    yield `${comma}${members.join(",")}`;
    comma = ",";
  }
  yield "}}";
}

const forgetRoute = ({ bulk }: ListDeps): AccountRoute => ({
  method: "DELETE",
  path: "lists/:id",
  for: "account",
  summary: "Cancel a list that runs, or forget its results",
  async handle(request) {
    await bulk.remove(readerOf(request), request.id);
    return done;
  },
});

import type { NotedResult } from "../../../core/batch/result-cells.ts";
import { fateOf } from "../../../core/batch/batch-chunk.ts";
import type { BulkResults, BulkService, SpelledResult } from "../../../bulk/bulk.ts";
import type { Entrance } from "../../../accounts/admission/admission.ts";
import { notNow } from "../../../base/refusals.ts";
import { Type } from "../../../core/json-schema.ts";
import { resultsJson } from "../../answer/results-text.ts";
import { framed } from "../../answer/streamed.ts";
import { counted, type CountedDeps } from "../counted.ts";
import { textField } from "../fields.ts";
import { file } from "../file.ts";
import { type AccountRoute, answering, done, streaming, type SignedInRequest } from "../route.ts";
import { type CompactRow, CompactRows, ListState } from "../shapes.ts";

export interface ListDeps extends CountedDeps {
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

/** Reading costs nothing, so the account is known but not counted. */
const readerOf = ({ account, visitor }: SignedInRequest): Entrance["caller"] => ({
  owner: { kind: "account", accountId: account.id },
  tier: account.tier,
  clientAddress: visitor.clientAddress,
});

const startRoute = (deps: ListDeps): AccountRoute =>
  answering(ListState, {
    method: "POST",
    path: "lists",
    for: "account",
    largeBody: true,
    summary: "Check a list, one entry a line; small ones are done at once, others queued",
    body: Type.Object({ text: Type.String() }),
    handle(request) {
      const text = textField(request.body, "text", LIST_MAX_CHARACTERS);
      return counted(request, deps, async (entrance) => {
        const answer = await deps.bulk.submit(entrance, { text, layout: "lines" });
        if (answer.kind === "queued") return answer.queued;
        return await stateOf(deps, request, answer.stats.session);
      });
    },
  });

const stateRoute = ({ bulk }: ListDeps): AccountRoute =>
  answering(ListState, {
    method: "GET",
    path: "lists/:id",
    for: "account",
    summary: "How far a list is, or what it came to",
    handle: async (request) => await stateOf({ bulk }, request, request.id),
  });

/** The progress object; of a finished list its summary, and for how many seconds its results stay. */
async function stateOf(
  { bulk }: Pick<ListDeps, "bulk">,
  request: SignedInRequest,
  session: string,
): Promise<ListState> {
  const found = await bulk.results(readerOf(request), session);
  if (found.kind === "progress") {
    const { tally, newest } = found.soFar;
    if (found.progress.status !== "processing") return found.progress;
    return {
      ...found.progress,
      so_far: {
        invalid_format: tally.invalidFormat,
        invalid_dns: tally.invalidDns,
        disposable: tally.disposable,
        valid: tally.valid,
      },
      newest: (await newest()).map(compact),
    };
  }
  const { stats, lifeSeconds } = found;
  return { session, status: "completed", stats, expires_in_seconds: lifeSeconds };
}

type Finished = BulkResults & { readonly kind: "results" };

async function finished({ bulk }: ListDeps, request: SignedInRequest): Promise<Finished> {
  const found = await bulk.results(readerOf(request), request.id);
  if (found.kind === "progress") throw notNow("The list is not done yet.");
  return found;
}

/** One result as the results table needs it. */
function compact({ spelling, result }: SpelledResult): CompactRow {
  // The program's own text, made from a `FullResult`.
  const full = JSON.parse(result) as NotedResult;
  const { confidence, signals, domain, code = "", did_you_mean: meant = "" } = full;
  return [spelling, fateOf(full), confidence, signals, domain, code, meant];
}

const rowsRoute = (deps: ListDeps): AccountRoute =>
  streaming(CompactRows, {
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
      const text = resultsJson(await finished(deps, request));
      return file("results.json", "application/json", text);
    },
  },
];

const NO_PAGES: AsyncIterable<readonly string[]> = (async function* none() {})();

const LINES = { head: "", between: "\n", tail: "" };

const validText = (pages: AsyncIterable<readonly string[]>): AsyncGenerator<string> =>
  framed(pages, (entry) => entry, LINES);

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

import type { FastifyInstance } from "fastify";
import { addDisposablePage, type DisposablePageDeps } from "./disposable-page.ts";
import { addPocketPage, type PocketPageDeps } from "./pocket-page.ts";

/** What this installation knows, as files: keyed hashes for its client libraries, names for systems that take a list. */
export function addFeedPages(
  app: FastifyInstance,
  deps: PocketPageDeps & DisposablePageDeps,
): void {
  addPocketPage(app, deps);
  addDisposablePage(app, deps);
}

import type { BulkService } from "./bulk.ts";
import { findSession, followSession, sessionResults, viewSession } from "./read-session.ts";
import { sessionNotFound } from "../refusals.ts";
import { submit, type SubmitDeps } from "./submit.ts";

/** The bulk service on its stores. */
export function createBulk(deps: SubmitDeps): BulkService {
  return {
    submit: (entrance, request) => submit(entrance, request, deps),
    view: (caller, session) => viewSession(deps, caller, session),
    results: (caller, session) => sessionResults(deps, caller, session),
    progress: (caller, session) => followSession(deps, caller, session),
    async remove(caller, hash) {
      await findSession(deps, hash, { caller, access: "everything" });
      // Somebody else was faster: it is gone for this caller too.
      if (!(await deps.jobs.remove(hash, deps.clock.nowMs()))) throw sessionNotFound();
    },
  };
}

import type { Clock } from "../../base/clock.ts";
import { type Begin, type Candidacy, type Elections, whileElected } from "../../store/elections.ts";
import type { Log } from "../../base/log.ts";

/** What one process at a time does, by its name in the elections. */
export type Duties = Readonly<Record<string, Begin>>;

export interface DutyDeps {
  readonly elections: Elections;
  readonly clock: Clock;
  readonly log: Log;
}

/** Runs each duty while this process is elected to it; `stop` ends them all and makes room for others. */
export function startDuties(duties: Duties, deps: DutyDeps): Candidacy {
  const candidacies = Object.entries(duties).map(([duty, begin]) =>
    whileElected({ ...deps, duty }, begin),
  );
  return {
    async stop() {
      await Promise.all(candidacies.map((each) => each.stop()));
    },
  };
}

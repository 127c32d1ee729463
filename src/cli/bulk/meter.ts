import type { Clock } from "../../base/clock.ts";
import type { Terminal } from "../terminal.ts";
import { type Input, shareOf } from "./input.ts";
import { progressLine, type RunProgress } from "./progress-bar.ts";
import type { RunState } from "./run.ts";

export interface Meter {
  readonly show: (state: RunState) => void;
  readonly clear: () => void;
  /** Since the run began. */
  readonly elapsedMs: () => number;
}

export interface MeteredRun {
  readonly input: Input;
  readonly out: string;
}

export interface MeterDeps {
  readonly terminal: Terminal;
  readonly clock: Clock;
}

/** The progress bar, on a terminal that does not show the output itself. */
export function createMeter({ input, out }: MeteredRun, { terminal, clock }: MeterDeps): Meter {
  const startMs = clock.monotonicMs();
  const elapsedMs = (): number => clock.monotonicMs() - startMs;
  const width = terminal.columns - 1;
  const isShown = terminal.interactive && (out !== "-" || !terminal.colours);
  const progress = (state: RunState): RunProgress => {
    const share = shareOf(input);
    return {
      entries: state.rows,
      elapsedMs: elapsedMs(),
      ...(share === undefined ? {} : { share }),
    };
  };
  return {
    elapsedMs,
    show: (state) => {
      const line = progressLine(progress(state), width);
      if (isShown) terminal.err(`\r${line.padEnd(width)}`);
    },
    clear: () => {
      if (isShown) terminal.err(`\r${" ".repeat(width)}\r`);
    },
  };
}

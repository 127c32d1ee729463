/** A fault that is planted in the compiled program, one at a time, to see whether the simulation finds it. */
export interface Plant {
  readonly name: string;
  /** Below `src`, without its suffix. */
  readonly file: string;
  /** Occurs in the file; the first occurrence becomes `to`. */
  readonly from: string;
  readonly to: string;
}

type Row = readonly [name: string, from: string, to: string];

/** Faults in one file. */
export const plantsIn = (file: string, ...rows: readonly Row[]): readonly Plant[] =>
  rows.map(([name, from, to]) => ({ name, file, from, to }));

/** Places where a crash hurts most. Tests stop the process there; production passes through. */
export type Stage =
  | "charged"
  | "inserted"
  | "accepted"
  | "claimed"
  | "mid_chunk"
  | "before_result"
  | "result_counted"
  | "after_result"
  | "completed"
  | "announced";

export type Checkpoint = (stage: Stage) => void;

export const passThrough: Checkpoint = () => undefined;

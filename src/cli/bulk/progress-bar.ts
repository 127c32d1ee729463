/** The progress of a run. */
export interface RunProgress {
  readonly entries: number;
  readonly elapsedMs: number;
  /** 0 to 1; absent when the size of the input is unknown. */
  readonly share?: number;
}

/** "1,234,567" */
export const grouped = (count: number): string => count.toLocaleString("en-US");

/** One line of at most `columns` characters: bar, share, entries, rate and time left. */
export function progressLine(progress: RunProgress, columns: number): string {
  const { entries, share } = progress;
  const rate = `${grouped(Math.round(ratePerSecond(progress)))}/s`;
  if (share === undefined) return `${grouped(entries)} entries  ${rate}`.slice(0, columns);
  const left = leftMs(progress);
  const facts = [
    `${String(Math.floor(share * 100)).padStart(3)} %`,
    `${grouped(entries)} entries`,
    rate,
    ...(left === undefined ? [] : [`${clockTime(left)} left`]),
  ].join("  ");
  const width = columns - facts.length - "[] ".length;
  if (width < 5) return facts.slice(0, columns);
  const full = Math.round(share * width);
  return `[${"#".repeat(full)}${"-".repeat(width - full)}] ${facts}`;
}

function ratePerSecond({ entries, elapsedMs }: RunProgress): number {
  return elapsedMs <= 0 ? 0 : (entries * 1_000) / elapsedMs;
}

function leftMs({ share = 0, elapsedMs }: RunProgress): number | undefined {
  return share <= 0 ? undefined : (elapsedMs * Math.max(0, 1 - share)) / share;
}

/** "1:05:09", "5:09" */
export function clockTime(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1_000);
  const parts = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  const [hours = 0, minutes = 0, rest = 0] = parts;
  const tail = String(rest).padStart(2, "0");
  return hours === 0
    ? `${String(minutes)}:${tail}`
    : `${String(hours)}:${String(minutes).padStart(2, "0")}:${tail}`;
}

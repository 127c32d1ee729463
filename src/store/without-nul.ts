export const holdsNul = (value: unknown): boolean =>
  typeof value === "string" && value.includes("\0");

/** SQLite cuts text at NUL when it compares, and PostgreSQL refuses it: each NUL is stored and looked for as U+FFFD. */
export const withoutNul = (value: unknown): unknown =>
  typeof value === "string" ? value.replaceAll("\0", "\uFFFD") : value;

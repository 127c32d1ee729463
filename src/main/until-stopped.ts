/** Resolves with the first SIGTERM or SIGINT. A second one does not wait for what stops then. */
export async function untilStopped(): Promise<void> {
  await new Promise<void>((resolve) => {
    process.once("SIGTERM", () => resolve());
    process.once("SIGINT", () => resolve());
  });
  process.once("SIGINT", () => process.exit(130));
  process.once("SIGTERM", () => process.exit(143));
}

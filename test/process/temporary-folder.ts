import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const made: string[] = [];

/** A new folder. It goes when this process ends; a child that ends beside it may still write, hence the retries. */
export function temporaryFolder(): string {
  if (made.length === 0) {
    process.once("exit", () => {
      for (const folder of made) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    });
  }
  const folder = mkdtempSync(join(tmpdir(), "gatepost-test-"));
  made.push(folder);
  return folder;
}

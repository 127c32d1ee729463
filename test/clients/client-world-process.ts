import { startClientWorld } from "./client-world.ts";

/**
 * For tests in other languages: prints the world as one line of JSON, obeys "kill" (the service alone; answers
 * "killed") and ends with its standard input.
 */
const world = await startClientWorld();
const { service, key, faults } = world;
process.stdout.write(`${JSON.stringify({ service, key, faults })}\n`);
process.stdin.setEncoding("utf8").on("data", (text: string) => {
  if (text.trim() === "kill") void world.kill().then(() => process.stdout.write("killed\n"));
});
process.stdin.once("end", () => void world.close());

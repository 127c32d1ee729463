import { createInterface } from "node:readline";

const AT_ONCE = 64;

/**
 * A contestant's process: it prints "ready", then answers each line of standard input, a JSON array of addresses, by one with
 * whether each is good.
 */
export async function answerLines(check: (address: string) => Promise<boolean>): Promise<void> {
  process.stdout.write("ready\n");
  for await (const line of createInterface({ input: process.stdin })) {
    const addresses = JSON.parse(line) as readonly string[];
    const good: boolean[] = [];
    let next = 0;
    const lane = async (): Promise<void> => {
      while (next < addresses.length) {
        const at = next++;
        good[at] = await check(addresses[at] ?? "");
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
    process.stdout.write(`${JSON.stringify(good)}\n`);
  }
}

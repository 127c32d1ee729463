import { Agent, request } from "node:http";
import { answerLines } from "./protocol.ts";

/** Asks the service; its own CPU is counted beside the service's by `bench:peers`. */
const [, , url = ""] = process.argv;
const agent = new Agent({ keepAlive: true, maxSockets: 64 });

function ask(address: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const asked = request(
      `${url}/api/email/${encodeURIComponent(address)}`,
      { agent },
      (answer) => {
        let text = "";
        answer.setEncoding("utf8").on("data", (part: string) => (text += part));
        answer.on("end", () => {
          const { format, dns, disposable } = JSON.parse(text) as Record<string, unknown>;
          resolve(format === true && dns === true && disposable !== true);
        });
      },
    );
    asked.on("error", reject).end();
  });
}
await answerLines(ask);

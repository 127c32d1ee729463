// `gatepost bulk` in a separate process, for tests that kill it: up to ten entries a millisecond.
import { recordingTerminal } from "../process/recording-terminal.ts";
import { runBulkCommand } from "./bulk-command.ts";

let begun = 0;
const room = (): Promise<void> | undefined => {
  begun += 1;
  return begun % 10 > 0 ? undefined : new Promise((resolve) => setTimeout(resolve, 1));
};

process.exitCode = await runBulkCommand(process.argv.slice(2), {
  terminal: recordingTerminal({
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
  }),
  room,
  onInterrupt: (stop) => {
    const leave = (): void => process.exit(130);
    process.once("SIGINT", () => {
      process.once("SIGINT", leave);
      stop();
    });
    return () => void process.off("SIGINT", leave);
  },
});

import { Command } from "commander";
import { CommandFailure, EXIT, type Terminal, jsonLine } from "../terminal.ts";
import { painter } from "../verdict-text.ts";
import type { JsonOption } from "./options.ts";

/** One thing that was looked at. A `note` is worth knowing, `wrong` needs repair. */
export interface Finding {
  readonly name: string;
  readonly state: "ok" | "note" | "wrong";
  readonly says: string;
  readonly toDo?: string;
}

export interface DoctorDeps {
  readonly terminal: Terminal;
  /** Changes nothing; may run beside a service. Never rejects. */
  readonly diagnose: () => Promise<readonly Finding[]>;
}

const COLOURS = { ok: "green", note: "yellow", wrong: "red" } as const;

export function doctorCommand({ terminal, diagnose }: DoctorDeps): Command {
  return new Command("doctor")
    .description("find what is wrong with this installation, and say what to do; changes nothing")
    .option("--json", 'print an array of {"name","state","says","to_do"}')
    .addHelpText("after", "\nExit codes: 0 nothing is wrong; 1 something is.")
    .action(async ({ json }: JsonOption) => {
      const findings = await diagnose();
      if (json === true) {
        const rows = findings.map(({ toDo = null, ...rest }) => ({ ...rest, to_do: toDo }));
        terminal.out(jsonLine(rows));
      } else {
        const paint = painter(terminal.colours);
        terminal.out(findings.map((finding) => textOf(finding, paint)).join(""));
      }
      if (findings.some(({ state }) => state === "wrong")) throw new CommandFailure(EXIT.no);
    });
}

function textOf({ name, state, says, toDo }: Finding, paint: ReturnType<typeof painter>): string {
  const mark = paint(COLOURS[state], state.padEnd(6));
  const advice = toDo === undefined ? "" : `                         To do: ${toDo}\n`;
  return `${mark} ${name.padEnd(17)} ${says}\n${advice}`;
}

import { rowsFor } from "../command.ts";
import { CommandFailure, EXIT } from "../terminal.ts";
import { painter } from "../verdict-text.ts";

/** One thing that was looked at. A `note` is worth knowing, `wrong` needs repair. */
export interface Finding {
  readonly name: string;
  readonly state: "ok" | "note" | "wrong";
  readonly says: string;
  readonly toDo?: string;
}

const COLOURS = { ok: "green", note: "yellow", wrong: "red" } as const;

/** `diagnose` changes nothing and may run beside a service. It never rejects. */
export const doctorCommand = rowsFor<{
  readonly diagnose: () => Promise<readonly Finding[]>;
}>()("doctor", {
  about: "find what is wrong with this installation, and say what to do; changes nothing",
  json: 'print an array of {"name","state","says","to_do"}',
  details: "Exit codes: 0 nothing is wrong; 1 something is.",
  examples: ["gatepost doctor", "gatepost doctor --json"],
  async run(_given, { diagnose }, { colours }) {
    const findings = await diagnose();
    const isWrong = findings.some(({ state }) => state === "wrong");
    return {
      json: findings.map(({ toDo = null, ...rest }) => ({ ...rest, to_do: toDo })),
      text: findings.map((finding) => textOf(finding, painter(colours))).join(""),
      failure: isWrong ? new CommandFailure(EXIT.no) : undefined,
    };
  },
});

function textOf({ name, state, says, toDo }: Finding, paint: ReturnType<typeof painter>): string {
  const mark = paint(COLOURS[state], state.padEnd(6));
  const advice = toDo === undefined ? "" : `                         To do: ${toDo}\n`;
  return `${mark} ${name.padEnd(17)} ${says}\n${advice}`;
}

import { program, runProgram } from "../cli/program.ts";
import { commandsFor } from "./commands.ts";
import { programVersion } from "./program-files.ts";
import { outputWritten, systemTerminal } from "./terminal.ts";

const ALIVE_MS = 60_000;

const terminal = systemTerminal();
const words = process.argv.slice(2);
const root = program(programVersion(), terminal, await commandsFor(words, terminal));

// Timers of ours keep no process alive; a command that waits for an answer has to.
const alive = setInterval(() => undefined, ALIVE_MS);
process.exitCode = await runProgram(root, words, terminal);
await outputWritten();
clearInterval(alive);
// A start that failed half way may have left connections that would keep the process; output is written by now.
if (process.exitCode !== 0) process.exit();

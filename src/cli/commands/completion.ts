import type { Command } from "commander";
import { type MakeCommand, rowsFor } from "../command.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];

/** `gatepost completion SHELL`: a script that completes commands and options. */
export const completionCommand: MakeCommand<object> = (...context) => {
  const command: Command = rowsFor()("completion", {
    about: "print a script that completes commands and options in a shell",
    takes: { "<shell>": { help: "", choices: SHELLS } },
    examples: [
      "source <(gatepost completion bash)",
      "gatepost completion fish > ~/.config/fish/completions/gatepost.fish",
    ],
    run: ({ shell }) => ({ text: SCRIPTS[shell](wordsOf(command.parent ?? command)) }),
  })(...context);
  return command;
};

/** What may follow: words so far ("account create") -> the next ones. */
type Completions = readonly (readonly [path: string, next: readonly string[]])[];

function wordsOf(root: Command): Completions {
  const walk = (command: Command, path: string): Completions => {
    const children = command.commands.map((child) => child.name());
    const options = command.options.flatMap(({ long }) => long ?? []);
    const below = command.commands.flatMap((child) =>
      walk(child, `${path} ${child.name()}`.trim()),
    );
    return [[path, [...children, ...options, "--help"]], ...below];
  };
  return walk(root, "");
}

const cases = (words: Completions): string =>
  words.map(([path, next]) => `    "${path}") words="${next.join(" ")}" ;;`).join("\n");

/** The longest known path of the first two words decides. */
const bash = (words: Completions): string => `_gatepost_next() {
  case "$1" in
${cases(words)}
    *) return 1 ;;
  esac
}
_gatepost() {
  local words="" word first="" second=""
  for word in "\${COMP_WORDS[@]:1:$((COMP_CWORD - 1))}"; do
    case "$word" in -*) continue ;; esac
    if [ -z "$first" ]; then first="$word"; elif [ -z "$second" ]; then second="$word"; fi
  done
  { [ -n "$second" ] && _gatepost_next "$first $second"; } || _gatepost_next "$first"
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _gatepost gatepost
`;

const zsh = (words: Completions): string => `autoload -U +X compinit && compinit
autoload -U +X bashcompinit && bashcompinit
${bash(words)}`;

const FISH_HELPER = `function __gatepost_at
  set -l words (string match -v -- '-*' (commandline -opc)[2..])
  test "$words[1..$argv[1]]" = "$argv[2]"
end
complete -c gatepost -f -n '__gatepost_at 1 bulk' -F
`;

/** A command with commands below it is only there while none of them was written. */
const fish = (words: Completions): string => {
  const lines = words.flatMap(([path, next]) => {
    const hasCommands = next.some((word) => !word.startsWith("-"));
    const depth = path.split(" ").length + (hasCommands ? 1 : 0);
    const here = `complete -c gatepost -n '__gatepost_at ${String(depth)} "${path}"'`;
    return next.map((word) =>
      word.startsWith("--") ? `${here} -l ${word.slice(2)}` : `${here} -f -a ${word}`,
    );
  });
  return `${FISH_HELPER}${lines.join("\n")}\n`;
};

const SCRIPTS: Readonly<Record<Shell, (words: Completions) => string>> = { bash, zsh, fish };

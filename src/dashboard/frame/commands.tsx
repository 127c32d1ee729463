import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { check } from "../app/check-run.ts";
import { t } from "../app/i18n.ts";
import { isOpenTo, PAGES } from "../app/pages.ts";
import { go } from "../app/router.ts";
import { session } from "../app/session.ts";
import { chooseTheme } from "../app/theme.ts";
import { areCommandsOpen } from "./commands-key.ts";
import { Dialog } from "../parts/dialog.tsx";

interface Command {
  readonly name: string;
  readonly run: () => void;
}

function commandsFor(text: string): readonly Command[] {
  const known = session.value;
  const pages = known === undefined ? [] : PAGES.filter((page) => isOpenTo(page, known));
  const commands: readonly Command[] = [
    ...pages
      .filter((page) => page.group !== undefined || page.path === "/settings")
      .map(({ name, path }) => ({ name: t(name), run: () => go(path) })),
    { name: t("Light colours"), run: () => chooseTheme("light") },
    { name: t("Dark colours"), run: () => chooseTheme("dark") },
  ];
  const sought = text.trim().toLowerCase();
  const fitting = commands.filter(({ name }) => name.toLowerCase().includes(sought));
  const isEntry = /[.@]/.test(sought) && !sought.includes(" ");
  if (!isEntry) return fitting;
  const run = (): void => {
    go("/");
    check(text);
  };
  return [{ name: t("Check {name}", { name: text.trim() }), run }, ...fitting];
}

function Options(props: {
  commands: readonly Command[];
  chosen: number;
  onRun: (command: Command) => void;
}): VNode {
  const { commands, chosen, onRun } = props;
  useEffect(
    () =>
      document.getElementById(`command-${String(chosen)}`)?.scrollIntoView({ block: "nearest" }),
    [chosen],
  );
  return (
    <ul class="commands" id="commands" role="listbox" aria-label={t("Commands")}>
      {commands.map((command, place) => (
        <li
          key={command.name}
          id={`command-${String(place)}`}
          role="option"
          aria-selected={place === chosen}
          onClick={() => onRun(command)}
        >
          {command.name}
        </li>
      ))}
    </ul>
  );
}

/** Every page, and a check, by a few letters. */
export function Commands(): VNode {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const commands = commandsFor(text);
  const chosen = Math.min(at, commands.length - 1);
  const close = (): void => {
    areCommandsOpen.value = false;
  };
  const run = (command: Command | undefined): void => {
    close();
    command?.run();
  };
  const move = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    setAt((chosen + step + commands.length) % Math.max(1, commands.length));
  };
  return (
    <Dialog title={t("Go to…")} onClose={close}>
      <form
        class="stack close"
        onSubmit={(event) => {
          event.preventDefault();
          run(commands[chosen]);
        }}
      >
        <input
          role="combobox"
          aria-label={t("Page, or an address to check")}
          aria-controls="commands"
          aria-expanded="true"
          aria-activedescendant={`command-${String(chosen)}`}
          autocomplete="off"
          spellcheck={false}
          placeholder={t("Page, or an address to check")}
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={move}
        />
        <Options commands={commands} chosen={chosen} onRun={run} />
      </form>
    </Dialog>
  );
}

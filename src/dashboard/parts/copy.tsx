import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { t } from "../app/i18n.ts";
import { announce } from "../app/announce.ts";

/** Puts text on the clipboard; without permission for that, selects it where it stands before the button. */
function CopyButton({ text, what }: { text: string; what: string }): VNode {
  const [word, setWord] = useState("Copy");
  useEffect(() => {
    if (word === "Copy") return undefined;
    const timer = setTimeout(() => setWord("Copy"), 2_000);
    return () => clearTimeout(timer);
  }, [word]);
  const copy = ({ currentTarget }: { currentTarget: HTMLButtonElement }): void => {
    const shownText = currentTarget.previousElementSibling;
    const tell = (shown: string, said: string): void => {
      setWord(shown);
      announce(said);
    };
    copyText(text).then(
      () => tell("Copied", t("{what} copied.", { what })),
      () =>
        copySelected(shownText)
          ? tell("Copied", t("{what} copied.", { what }))
          : tell(
              "Selected",
              t("The browser does not allow copying. {what} is selected: copy it.", { what }),
            ),
    );
  };
  return (
    <button type="button" class="small" onClick={copy}>
      {t(word)}
      <span class="unseen"> {what}</span>
    </button>
  );
}

/** Plain HTTP on an address that is not loopback has no clipboard. */
export async function copyText(text: string): Promise<void> {
  if (!("clipboard" in navigator)) throw new Error("no clipboard");
  await navigator.clipboard.writeText(text);
}

/** The old way, which browsers allow wherever a person pressed a button; the text stays selected. */
function copySelected(shownText: Element | null): boolean {
  if (shownText !== null) getSelection()?.selectAllChildren(shownText);
  return document.execCommand("copy");
}

/** Code as text, with a copy button. */
export function Code({
  text,
  what,
  wrap = false,
}: {
  text: string;
  what: string;
  wrap?: boolean;
}): VNode {
  return (
    <div class="code">
      <pre class={wrap ? "wrap" : ""} tabIndex={0} role="region" aria-label={what}>
        {text}
      </pre>
      <CopyButton text={text} what={what} />
    </div>
  );
}

/** A secret that is shown this once and says so before it goes. */
export function Secret(props: {
  title: string;
  value: string;
  /** Of a key that is no secret: what to do with it. */
  words?: string;
  onDone: () => void;
}): VNode {
  const box = useRef<HTMLDivElement>(null);
  // After the dialog that made it is gone: it may stand out of sight, and it is shown only once.
  useEffect(() => box.current?.focus(), [props.value]);
  const done = (): void => {
    document.querySelector("h1")?.focus();
    props.onDone();
  };
  return (
    <div class="secret" role="group" aria-label={props.title} tabIndex={-1} ref={box}>
      <div>
        <h2>{props.title}</h2>
        <p>
          {props.words ??
            t("This is the only time it is shown. Copy it to where your server keeps its secrets.")}
        </p>
      </div>
      <div class="bar">
        <code>{props.value}</code>
        <CopyButton text={props.value} what={props.title} />
        <button type="button" class="small" onClick={done}>
          {t("I have kept it")}
        </button>
      </div>
    </div>
  );
}

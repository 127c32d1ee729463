import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { check, checkLinked, checkRun, typed } from "../../app/check-run.ts";
import { t } from "../../app/i18n.ts";
import { fragment } from "../../app/router.ts";
import { BlankPostmark } from "../../parts/postmark.tsx";
import { Bones } from "../../parts/states.tsx";

/** Longest text that is sent: no entry is longer, and a pasted novel is a mistake. */
const ENTRY_MAX_CHARACTERS = 2_000;

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest("input, textarea, select, dialog") !== null;

/** The one field of the page. "/" brings the focus to it. */
export function Ask({ onFocus }: { onFocus?: () => void }): VNode {
  const { text, shown } = checkRun.value;
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const focus = (event: KeyboardEvent): void => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || isTyping(event.target)) return;
      event.preventDefault();
      input.current?.select();
    };
    document.addEventListener("keydown", focus);
    return () => document.removeEventListener("keydown", focus);
  }, []);
  const isBusy = shown.state === "checking";
  return (
    <form
      class="ask"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        check(text);
      }}
    >
      <input
        ref={input}
        aria-label={t("Address or domain")}
        aria-keyshortcuts="/"
        placeholder={t("name@domain")}
        value={text}
        onFocus={onFocus}
        onInput={(event) => typed(event.currentTarget.value)}
        maxLength={ENTRY_MAX_CHARACTERS}
        spellcheck={false}
        autocomplete="off"
        autocapitalize="off"
        inputMode="email"
        enterkeyhint="go"
        required
      />
      <button type="submit" class="main">
        <span class={isBusy ? "stacked unshown" : "stacked"}>{t("Check")}</span>
        <span class={isBusy ? "stacked" : "stacked unshown"} aria-hidden={!isBusy}>
          {t("Checking")}
        </span>
      </button>
    </form>
  );
}

/** Checks what a link names behind "#": of an opened page before it is drawn, so that nothing is drawn for nothing. */
export function useDeepLink(): void {
  useState(checkLinked);
  useEffect(checkLinked, [fragment.value]);
}

/** In the place of the answer until it is there. */
export function Checking({ entry }: { entry: string }): VNode {
  return (
    <section class="sheet verdict">
      <div>
        <code class="subject">{entry}</code>
        <h2 class="say">{t("Asking its name servers…")}</h2>
        <Bones lines={2} />
      </div>
      <BlankPostmark />
    </section>
  );
}

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { t } from "../../app/i18n.ts";

const EXAMPLE = "maria@gmial.com\nsomeone@mailinator.com\ninfo@iana.org\nnot-an-address@";

/** Browsers need long to lay out such a text, and users do not edit it there. */
const LARGE_PASTE_CHARACTERS = 50_000;

/** Addresses and domains as text. */
export function Paste({ onText }: { onText: (text: string) => void }): VNode {
  const [text, setText] = useState("");
  return (
    <form
      class="sheet stack"
      onSubmit={(event) => {
        event.preventDefault();
        onText(text);
      }}
    >
      <label class="field">
        <span class="label">{t("Or paste addresses and domains")}</span>
        <textarea
          rows={6}
          value={text}
          spellcheck={false}
          placeholder={t("One a line, or with commas between")}
          onInput={(event) => setText(event.currentTarget.value)}
          onPaste={(event) => {
            const pasted = event.clipboardData?.getData("text/plain") ?? "";
            if (pasted.length < LARGE_PASTE_CHARACTERS) return;
            event.preventDefault();
            onText(`${text}\n${pasted}`);
          }}
        />
      </label>
      <div class="bar">
        <button type="submit" disabled={text.trim() === ""}>
          {t("Look at the list")}
        </button>
        <button type="button" class="plain" onClick={() => setText(EXAMPLE)}>
          {t("Put an example in")}
        </button>
      </div>
    </form>
  );
}

import type { VNode } from "preact";
import { language, LANGUAGES, t } from "../app/i18n.ts";
import { chooseLanguage } from "../app/language.ts";

/** The page's language; the choice is kept in this browser. */
export function LanguageChoice(): VNode {
  return (
    <select
      class="language"
      aria-label={t("Language")}
      value={language}
      onChange={({ currentTarget }) => chooseLanguage(currentTarget.value)}
    >
      {LANGUAGES.map(([name, words]) => (
        <option key={name} value={name} lang={name}>
          {words}
        </option>
      ))}
    </select>
  );
}

import type { VNode } from "preact";
import { useId, useRef } from "preact/hooks";
import { ApiFault, call } from "../api/client.ts";
import { t } from "../app/i18n.ts";
import { useAction } from "../app/load.ts";
import { go } from "../app/router.ts";
import { signedOut } from "../app/session.ts";
import { chooseTheme, theme, THEMES } from "../app/theme.ts";
import { Fault } from "../parts/states.tsx";

/** A session that has ended already is what was asked for. */
function unlessOut(error: unknown): void {
  if (!(error instanceof ApiFault && error.status === 401)) throw error;
}

/** The account's own page, signing out and colours. */
export function AccountMenu(): VNode {
  const menu = useRef<HTMLDivElement>(null);
  const { busy, fault, run } = useAction();
  const close = (): void => {
    const popover = menu.current?.closest<HTMLElement>("[popover]");
    popover?.hidePopover();
  };
  const signOut = (): void =>
    run(async () => {
      await call("POST", "sign-out").catch(unlessOut);
      close();
      go("/");
      await signedOut();
    });
  return (
    <div class="menu-items" ref={menu}>
      <a href="/settings" onClick={close}>
        {t("Your account")}
      </a>
      <a href="/pricing" onClick={close}>
        {t("Plans")}
      </a>
      <button type="button" disabled={busy} onClick={signOut}>
        {t("Sign out")}
      </button>
      <Fault text={fault} />
      <ThemeChoice />
    </div>
  );
}

const THEME_WORDS = { system: "System", light: "Light", dark: "Dark" } as const;

function ThemeChoice(): VNode {
  const group = useId(); // it is there twice: in the rail and in the drawer
  return (
    <fieldset>
      <legend>{t("Appearance")}</legend>
      {THEMES.map((name) => (
        <label key={name}>
          <input
            type="radio"
            name={group}
            checked={theme.value === name}
            onChange={() => chooseTheme(name)}
          />
          {t(THEME_WORDS[name])}
        </label>
      ))}
    </fieldset>
  );
}

import type { VNode } from "preact";
import { call } from "../../api/client.ts";
import { announce } from "../../app/announce.ts";
import { useAction } from "../../app/load.ts";
import { loadSession } from "../../app/session.ts";
import { t, tx } from "../../app/i18n.ts";
import { Fault } from "../../parts/states.tsx";

/** The switch of the account's own counter of spellings. */
export function Spellings({ isOn }: { readonly isOn: boolean }): VNode {
  const { busy, fault, run } = useAction();
  const change = (): void =>
    run(async () => {
      await call("POST", "spellings", { state: isOn ? "off" : "on" });
      await loadSession();
      announce(isOn ? t("Spellings are forgotten.") : t("Spellings are counted from now on."));
    });
  return (
    <section class="sheet stack">
      <h2>{t("One mailbox, many spellings")}</h2>
      <p class="prose">
        {tx(
          "Counts, in your own checks of seven days, under how many spellings each mailbox came, such as j.o@gmail.com and jo+x@gmail.com, and from five on adds the signal {code} to your results alone; only keyed hashes are kept.",
          { code: <code>dot_scatter</code> },
        )}
      </p>
      <Fault text={fault} />
      <div>
        <button type="button" disabled={busy} onClick={change}>
          {isOn ? t("Stop counting and forget") : t("Count spellings")}
        </button>
      </div>
    </section>
  );
}

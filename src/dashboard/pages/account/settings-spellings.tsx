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
      await call("POST", "traffic", { state: isOn ? "off" : "on" });
      await loadSession();
      announce(isOn ? t("Spellings are forgotten.") : t("Spellings are counted from now on."));
    });
  return (
    <section class="sheet stack">
      <h2>{t("One mailbox, many spellings")}</h2>
      <p class="prose">
        {tx(
          "Counts under how many spellings each mailbox came in your decisions of seven days, such as j.o@gmail.com and jo+x@gmail.com. Your policies can ask for {code}. Only keyed hashes are kept.",
          { code: <code>mailbox_seen</code> },
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

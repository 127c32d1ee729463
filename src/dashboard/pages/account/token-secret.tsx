import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { announce } from "../../app/announce.ts";
import { t } from "../../app/i18n.ts";
import { Secret } from "../../parts/copy.tsx";
import { Confirm } from "../../parts/dialog.tsx";

/** Makes the secret that your server verifies tokens with, and shows it once. */
export function TokenSecret(): VNode {
  const [secret, setSecret] = useState("");
  const [isAsked, setAsked] = useState(false);
  const work = async (): Promise<void> => {
    const made = await call<{ readonly secret: string }>("POST", "token-secret");
    setSecret(made.secret);
    announce(t("New token secret made. It is shown once."));
  };
  return (
    <section class="sheet stack">
      <h2>{t("Token secret")}</h2>
      <p class="prose">
        {t("Your server verifies the tokens of your sign-up pages with this secret.")}
      </p>
      {secret === "" ? null : (
        <Secret title={t("Your token secret")} value={secret} onDone={() => setSecret("")} />
      )}
      <div class="bar">
        <button type="button" class="small" onClick={() => setAsked(true)}>
          {t("Make a token secret")}
        </button>
      </div>
      {isAsked ? (
        <Confirm
          title={t("Make a token secret?")}
          act={t("Make a token secret")}
          work={work}
          onClose={() => setAsked(false)}
        >
          {t(
            "The old one ends at once. Tokens are not accepted until your server knows the new one.",
          )}
        </Confirm>
      ) : null}
    </section>
  );
}

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { AdminAccount } from "../../api/shapes.ts";
import { t } from "../../app/i18n.ts";
import { counted } from "../../app/numbers.ts";
import { Field } from "../../parts/field.tsx";
import { passwordInput } from "../../words/password.ts";
import { tierName } from "../../words/tiers.ts";

export const TIERS = ["free", "starter", "pro"];

interface PartProps {
  account: AdminAccount;
  busy: boolean;
  change: (action: string, body: unknown, said: string) => void;
}

/** An administrator's plan is Pro. */
export function TierForm({ account, busy, change }: PartProps): VNode {
  const [tier, setTier] = useState(account.tier);
  if (account.admin) return <p class="note">{t("An administrator's plan is Pro.")}</p>;
  return (
    <form
      class="bar"
      onSubmit={(event) => {
        event.preventDefault();
        change("tier", { tier }, t("Plan changed."));
      }}
    >
      <label class="grow">
        <span class="label">{t("Plan")}</span>
        <select value={tier} onChange={(event) => setTier(event.currentTarget.value)}>
          {TIERS.map((name) => (
            <option key={name} value={name}>
              {tierName(name)}
            </option>
          ))}
        </select>
      </label>
      <button type="submit" disabled={busy || tier === account.tier}>
        {t("Change the plan")}
      </button>
    </form>
  );
}

/** For somebody who forgot theirs: tell it to them, and they change it. */
export function PasswordForm({ busy, change }: PartProps): VNode {
  const [password, setPassword] = useState("");
  const [own, setOwn] = useState("");
  return (
    <form
      class="stack close"
      onSubmit={(event) => {
        event.preventDefault();
        change("password", { password, current_password: own }, t("Password set."));
      }}
    >
      <Field
        label={t("New password")}
        value={password}
        onValue={setPassword}
        hint={t("Signs the account out everywhere. Tell the password to its owner.")}
        input={{ ...passwordInput("new-password"), required: false, autocomplete: "off" }}
      />
      <OwnPassword value={own} onValue={setOwn} />
      <div>
        <button type="submit" disabled={busy || password === "" || own === ""}>
          {t("Set the password")}
        </button>
      </div>
    </form>
  );
}

function OwnPassword(props: { value: string; onValue: (value: string) => void }): VNode {
  return (
    <Field
      label={t("Your own password")}
      {...props}
      input={{ ...passwordInput("current-password"), required: false }}
    />
  );
}

export function PromoteForm({ account, busy, change }: PartProps): VNode {
  const [own, setOwn] = useState("");
  return (
    <form
      class="stack close"
      onSubmit={(event) => {
        event.preventDefault();
        change("promote", { current_password: own }, t("Made an administrator"));
      }}
    >
      {account.origin === "signup" ? (
        <p class="note">
          {t(
            "This account was registered by a sign-up, which proves nothing about its owner. It gets a new password, which you see once, and every browser is signed out. Its API keys still work.",
          )}
        </p>
      ) : null}
      <OwnPassword value={own} onValue={setOwn} />
      <div>
        <button type="submit" disabled={busy || own === ""}>
          {t("Make an administrator")}
        </button>
      </div>
    </form>
  );
}

export function CreditForm({ account, busy, change }: PartProps): VNode {
  const [amount, setAmount] = useState("");
  const [reason, setReason] = useState("");
  return (
    <form
      class="stack close"
      onSubmit={(event) => {
        event.preventDefault();
        change("credits", { amount: Number(amount), reason }, t("Credits moved."));
      }}
    >
      <Field
        label={t("Credits to add")}
        value={amount}
        onValue={setAmount}
        hint={t("{credits} now. A negative number takes some back.", {
          credits: counted(account.credits, "{n} credit", "{n} credits"),
        })}
        input={{ type: "number", step: 1, required: true }}
      />
      <Field
        label={t("Reason")}
        value={reason}
        onValue={setReason}
        hint={t("The account sees it.")}
        input={{ maxLength: 200, autocomplete: "off" }}
      />
      <div>
        <button type="submit" disabled={busy || amount === ""}>
          {t("Move the credits")}
        </button>
      </div>
    </form>
  );
}

import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Hook, HooksState } from "../../api/gate.ts";
import { announce } from "../../app/announce.ts";
import { useLooks } from "../../app/every.ts";
import { t, tx } from "../../app/i18n.ts";
import { type Loaded, useLoad } from "../../app/load.ts";
import { count } from "../../app/numbers.ts";
import { Secret } from "../../parts/copy.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { Mark } from "../../parts/mark.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { Empty, Shown } from "../../parts/states.tsx";
import { Time } from "../../parts/time.tsx";
import { hookMark, outcomeName } from "../../words/hooks.ts";
import { CreateHook } from "./hook-create.tsx";
import { HookTest } from "./hook-test.tsx";

/** Identity systems that ask before they create a user. */
export function HooksPage(): VNode {
  const loading = useLoad<HooksState>("hooks");
  const [isCreating, setCreating] = useState(false);
  const [secret, setSecret] = useState("");
  const [asked, setAsked] = useState<readonly ["remove" | "secret", Hook]>();
  useLooks(isWaiting(loading.loaded), loading.reload);
  const changed = (newSecret: string | null): void => {
    setSecret(newSecret ?? "");
    setCreating(false);
    loading.reload();
  };
  return (
    <>
      <PageHead
        title={t("Hooks")}
        lead={t(
          "Your identity system asks Gatepost before it creates a user. When anything fails, the person is let through.",
        )}
      >
        <button type="button" class="main" onClick={() => setCreating(true)}>
          {t("Create a hook")}
        </button>
      </PageHead>
      {secret === "" ? null : (
        <Secret title={t("The hook's secret")} value={secret} onDone={() => setSecret("")} />
      )}
      <Shown loading={loading} lines={5}>
        {(state) => (
          <>
            <Sheets state={state} onAsk={setAsked} onTested={loading.reload} />
            {isCreating ? (
              <CreateHook
                systems={state.systems}
                onClose={() => setCreating(false)}
                onCreated={(hook) => changed(hook.secret)}
              />
            ) : null}
          </>
        )}
      </Shown>
      <Asked asked={asked} onClose={() => setAsked(undefined)} onDone={changed} />
    </>
  );
}

/** A hook waits for its first call. */
const isWaiting = (loaded: Loaded<HooksState>): boolean =>
  loaded.state === "ready" && loaded.value.hooks.some(({ last_call: last }) => last === null);

const nameOf = ({ systems }: HooksState, { system }: Hook): string =>
  systems.find(({ id }) => id === system)?.name ?? system;

function NoHooks(): VNode {
  return (
    <section class="sheet">
      <Empty title={t("No hooks yet")}>
        <p>
          {t(
            "Create one for Supabase, Kratos, ZITADEL, FusionAuth, Neon or any system that signs by Standard Webhooks. You get an address and a secret to enter there.",
          )}
        </p>
      </Empty>
    </section>
  );
}

interface Acts {
  onAsk: (asked: readonly ["remove" | "secret", Hook]) => void;
  onTested: () => void;
}

function Sheets({ state, ...acts }: Acts & { state: HooksState }): VNode {
  if (state.hooks.length === 0) return <NoHooks />;
  return (
    <>
      {state.hooks.map((hook) => (
        <HookSheet key={hook.id} hook={hook} name={nameOf(state, hook)} {...acts} />
      ))}
    </>
  );
}

function HookSheet({ hook, name, onAsk, onTested }: Acts & { hook: Hook; name: string }): VNode {
  return (
    <section class="sheet stack">
      <div class="bar">
        <h2>{name}</h2>
        <span class="push">
          <Mark {...hookMark(hook)} />
        </span>
      </div>
      <dl class="pairs">
        <dt>{t("Address")}</dt>
        <dd class="mono break">{hook.url}</dd>
        <dt>{t("Policy")}</dt>
        <dd>
          <code>{hook.policy}</code>{" "}
          <span class="note">
            {hook.challenge === "reject"
              ? t("“ask again” and “review” are refused")
              : t("“ask again” and “review” are accepted")}
          </span>
        </dd>
        <dt>{t("Last 30 days")}</dt>
        <dd>
          {t("{accepted} accepted, {refused} refused, {open} let through after a fault", {
            accepted: count(hook.calls.accepted),
            refused: count(hook.calls.refused),
            open: count(hook.calls.failed_open),
          })}
        </dd>
        <Call name={t("Last call")} call={hook.last_call} />
        {hook.last_failure === null ? null : (
          <Call name={t("Last failure")} call={hook.last_failure} />
        )}
      </dl>
      <HookTest hook={hook} onTested={onTested} />
      <div class="bar">
        <button type="button" class="plain" onClick={() => onAsk(["secret", hook])}>
          {t("Make a new secret")}
          <span class="unseen"> {name}</span>
        </button>
        <button type="button" class="plain grave" onClick={() => onAsk(["remove", hook])}>
          {t("Remove the hook")}
          <span class="unseen"> {name}</span>
        </button>
      </div>
    </section>
  );
}

function Call({ name, call: known }: { name: string; call: Hook["last_call"] }): VNode {
  return (
    <>
      <dt>{name}</dt>
      <dd>
        {known === null ? (
          t("Waiting for the first call")
        ) : (
          <>
            {outcomeName(known.outcome)}, <Time at={known.at} />
            {known.why === "" ? null : <span class="note break"> {known.why}</span>}
          </>
        )}
      </dd>
    </>
  );
}

/** What is asked before a hook loses its secret or is removed. */
function Asked(props: {
  asked: readonly ["remove" | "secret", Hook] | undefined;
  onClose: () => void;
  onDone: (secret: string) => void;
}): VNode | null {
  const { asked, onClose, onDone } = props;
  if (asked === undefined) return null;
  const [what, hook] = asked;
  const isRemoved = what === "remove";
  const work = async (): Promise<void> => {
    if (isRemoved) await call("DELETE", `hooks/${hook.id}`);
    const made = isRemoved
      ? { secret: "" }
      : await call<{ readonly secret: string }>("POST", `hooks/${hook.id}/secret`, {});
    announce(
      isRemoved
        ? t("Hook removed.")
        : t("New secret made. It is shown once, at the top of the page."),
    );
    onDone(made.secret);
  };
  return (
    <Confirm
      title={isRemoved ? t("Remove this hook?") : t("Make a new secret?")}
      act={isRemoved ? t("Remove the hook") : t("Make a new secret")}
      work={work}
      onClose={onClose}
    >
      {isRemoved
        ? tx("{url} answers 404 within 5 seconds. Remove it from your identity system first.", {
            url: <code class="break">{hook.url}</code>,
          })
        : t(
            "Calls that are signed with the old secret are refused at once. Enter the new one in your identity system.",
          )}
    </Confirm>
  );
}

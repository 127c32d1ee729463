import type { VNode } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { faultText } from "./api/client.ts";
import type { SessionState } from "./api/shapes.ts";
import { announcement } from "./app/announce.ts";
import type { Loadable } from "./app/loaded-parts.ts";
import { isOpenTo, pageAt } from "./app/pages.ts";
import { t } from "./app/i18n.ts";
import { notice } from "./app/notice.ts";
import { path } from "./app/router.ts";
import { isEnded, loadSession, session } from "./app/session.ts";
import { areCommandsOpen } from "./frame/commands-key.ts";
import { Lazy } from "./parts/lazy.tsx";
import { PageHead } from "./parts/page-head.tsx";
import { Shell } from "./frame/shell.tsx";
import { Bones, Failed } from "./parts/states.tsx";
import { SignInAgain } from "./pages/sign-in/sign-in-again.tsx";
import { SignInPage } from "./pages/sign-in/sign-in.tsx";

/** The whole dashboard: who is here, which was `asked` already, the frame, and the page of the path. */
export function App({ asked }: { asked: Promise<void> }): VNode {
  const [fault, setFault] = useState("");
  const follow = (answer: Promise<void>): void => {
    setFault("");
    answer.catch((error: unknown) => setFault(faultText(error)));
  };
  useLayoutEffect(() => follow(asked), []);
  const known = session.value;
  return (
    <>
      <Shell session={known}>
        <Notice />
        {fault === "" ? (
          frame(known)
        ) : (
          <>
            <PageHead title={t("Gatepost cannot be reached")} />
            <Failed message={fault} retry={() => follow(loadSession())} />
          </>
        )}
      </Shell>
      {isEnded.value && known?.account !== undefined ? (
        <SignInAgain email={known.account.email} />
      ) : null}
      {areCommandsOpen.value ? <Lazy part={COMMANDS} wait={<></>} /> : null}
      <div class="unseen" role="status">
        {announcement.value}
      </div>
    </>
  );
}

/** What happened on another page, above this one. */
function Notice(): VNode | null {
  const known = notice.value;
  if (known === undefined) return null;
  return (
    <p class="notice yes" role="status">
      <span>{known.words}</span>
      <a href={known.href} onClick={() => (notice.value = undefined)}>
        {t("See it")}
      </a>
    </p>
  );
}

const COMMANDS: Loadable = {
  load: async () => (await import("./frame/commands.tsx")).Commands,
};

function frame(known: SessionState | undefined): VNode {
  const page = pageAt(path.value, known);
  if (known === undefined) return <Bones lines={6} />;
  if (page === undefined) return <Missing />;
  if (isOpenTo(page, known)) return <Lazy key={`${page.path} ${page.for}`} part={page} />;
  return known.account === undefined ? <SignInPage /> : <Missing />;
}

function Missing(): VNode {
  return (
    <>
      <PageHead
        title={t("There is no such page")}
        lead={t("The address may be mistyped, or the page is not for this account.")}
      />
      <p>
        <a href="/">{t("Go to Check")}</a>
      </p>
    </>
  );
}

import type { ComponentType, VNode } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { call, faultText } from "./api/client.ts";
import type { SessionState } from "./api/shapes.ts";
import { announcement } from "./app/announce.ts";
import { loadedPage, loadPage } from "./app/loaded-pages.ts";
import { isOpenTo, type Page, pageAt } from "./app/pages.ts";
import { t } from "./app/i18n.ts";
import { notice } from "./app/notice.ts";
import { path } from "./app/router.ts";
import { isEnded, loadSession, session } from "./app/session.ts";
import { areCommandsOpen } from "./frame/commands-key.ts";
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
      {areCommandsOpen.value ? <LazyCommands /> : null}
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

function LazyCommands(): VNode | null {
  const [Content, setContent] = useState<ComponentType>();
  useLayoutEffect(() => {
    import("./frame/commands.tsx").then(
      ({ Commands }) => setContent(() => Commands),
      () => (areCommandsOpen.value = false),
    );
  }, []);
  return Content === undefined ? null : <Content />;
}

function frame(known: SessionState | undefined): VNode {
  const page = pageAt(path.value, known);
  if (known === undefined) return <Bones lines={6} />;
  if (page === undefined) return <Missing />;
  if (isOpenTo(page, known)) return <Lazy key={`${page.path} ${page.for}`} page={page} />;
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

const NOT_LOADED = "This page could not be loaded. The service may have been updated: reload.";

/** A file that does not come is gone after an update, or the server is out of reach. */
async function whyNotLoaded(): Promise<string> {
  return call("GET", "session").then(() => t(NOT_LOADED), faultText);
}

function Lazy({ page }: { page: Page }): VNode {
  const [Content, setContent] = useState(() => loadedPage(page));
  const [fault, setFault] = useState("");
  const load = (): void => {
    setFault("");
    void loadPage(page).then(async (component) => {
      if (component === undefined) setFault(await whyNotLoaded());
      else setContent(() => component);
    });
  };
  useLayoutEffect(() => {
    if (Content === undefined) load();
  }, []);
  if (Content !== undefined) return <Content />;
  return fault === "" ? (
    <Bones lines={6} />
  ) : (
    <Failed message={fault} retry={() => (fault === t(NOT_LOADED) ? location.reload() : load())} />
  );
}

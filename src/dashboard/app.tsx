import type { ComponentType, VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { faultText } from "./api/client.ts";
import type { SessionState } from "./api/shapes.ts";
import { announcement } from "./app/announce.ts";
import { isOpenTo, type Page, PAGES } from "./app/pages.ts";
import { path } from "./app/router.ts";
import { loadSession, session } from "./app/session.ts";
import { PageHead } from "./parts/page-head.tsx";
import { Shell } from "./parts/shell.tsx";
import { Bones, Failed } from "./parts/states.tsx";
import { SignInPage } from "./pages/sign-in.tsx";

/** The whole dashboard: who is here, the frame, and the page of the path. */
export function App(): VNode {
  const [fault, setFault] = useState("");
  const load = (): void => {
    setFault("");
    loadSession().catch((error: unknown) => setFault(faultText(error)));
  };
  useEffect(load, []);
  const known = session.value;
  return (
    <>
      <Shell session={known}>
        {fault === "" ? frame(known) : <Failed message={fault} retry={load} />}
      </Shell>
      <div class="unseen" role="status">
        {announcement.value}
      </div>
    </>
  );
}

function frame(known: SessionState | undefined): VNode {
  const page = PAGES.find((candidate) => candidate.path === path.value);
  if (known === undefined) return <Bones lines={6} />;
  if (page === undefined) return <Missing />;
  if (isOpenTo(page, known)) return <Lazy key={page.path} page={page} />;
  return known.account === undefined ? <SignInPage /> : <Missing />;
}

function Missing(): VNode {
  return (
    <>
      <PageHead
        title="There is no such page"
        lead="The address may be mistyped, or the page is not for this account."
      />
      <p>
        <a href="/">Go to Check</a>
      </p>
    </>
  );
}

const loadedPages = new Map<string, ComponentType>();

function Lazy({ page }: { page: Page }): VNode {
  const [Content, setContent] = useState(() => loadedPages.get(page.path));
  const [fault, setFault] = useState("");
  const load = (): void => {
    setFault("");
    page.load().then(
      (component) => {
        loadedPages.set(page.path, component);
        setContent(() => component);
      },
      () => setFault("This page could not be loaded. The service may have been updated: reload."),
    );
  };
  useEffect(() => {
    if (Content === undefined) load();
  }, []);
  if (Content !== undefined) return <Content />;
  return fault === "" ? (
    <Bones lines={6} />
  ) : (
    <Failed message={fault} retry={() => location.reload()} />
  );
}

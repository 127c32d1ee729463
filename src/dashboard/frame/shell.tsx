import type { ComponentChildren, VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { SessionState } from "../api/shapes.ts";
import { t } from "../app/i18n.ts";
import { isOpenTo, type Page, PAGES } from "../app/pages.ts";
import { doorTo, path } from "../app/router.ts";
import { wasHere } from "../app/session.ts";
import { chooseTheme, theme } from "../app/theme.ts";
import { AccountMenu } from "./account-menu.tsx";
import { AllowanceBox } from "./allowance-box.tsx";
import { openCommands } from "./commands-key.ts";
import { Icon } from "./icon.tsx";
import { waiting } from "../parts/states.tsx";

/** The frame of every page: a rail for accounts, or a tab bar where it is narrow; a bar on top for visitors. */
export function Shell(props: {
  session: SessionState | undefined;
  children: ComponentChildren;
}): VNode {
  const { session, children } = props;
  const isVisitor = session === undefined ? !wasHere() : session.account === undefined;
  return isVisitor ? (
    <VisitorShell session={session}>{children}</VisitorShell>
  ) : (
    <AccountShell session={session}>{children}</AccountShell>
  );
}

function Skip(): VNode {
  return (
    <a class="skip button" href="#content">
      {t("Skip to the page")}
    </a>
  );
}

function AccountShell(props: {
  session: SessionState | undefined;
  children: ComponentChildren;
}): VNode {
  const { session, children } = props;
  return (
    <div class="shell">
      <Skip />
      <header class="rail">
        <Brand />
        <nav class="nav" aria-label={t("Main")}>
          <Groups session={session} names={["main", "build", "admin"]} />
        </nav>
        <div class="rail-foot">
          <AllowanceBox />
          <Who session={session} />
        </div>
      </header>
      <header class="bar-top">
        <Brand />
        <AllowanceBox />
      </header>
      <Main>{children}</Main>
      <TabBar session={session} />
    </div>
  );
}

function Main({ children }: { children: ComponentChildren }): VNode {
  return (
    <main id="content" tabIndex={-1} class={waiting.value > 0 ? "waiting" : ""}>
      {children}
    </main>
  );
}

function VisitorShell(props: {
  session: SessionState | undefined;
  children: ComponentChildren;
}): VNode {
  const { session, children } = props;
  const isDoor = path.value.startsWith("/sign-");
  return (
    <div class="visitor">
      <Skip />
      <header class="bar-visitor">
        <Brand />
        <nav aria-label={t("Main")}>
          <PageLink href="/guide">{t("Guide")}</PageLink>
          {session?.signup === "closed" ? null : <PageLink href="/pricing">{t("Plans")}</PageLink>}
        </nav>
        {isDoor ? null : (
          <div class={session === undefined ? "bar unshown" : "bar"}>
            <a class="button plain" href={doorTo("/sign-in")}>
              {t("Sign in")}
            </a>
            {session?.signup !== "closed" ? (
              <a class="button" href={doorTo("/sign-up")}>
                {t("Sign up")}
              </a>
            ) : null}
          </div>
        )}
      </header>
      <Main>{children}</Main>
      <Foot session={session} />
    </div>
  );
}

function Foot({ session }: { session: SessionState | undefined }): VNode {
  const isDark = theme.value === "dark";
  return (
    <footer>
      <span>Gatepost {session?.version ?? ""}</span>
      <a href="/guide">{t("Guide")}</a>
      <a href="/docs">{t("API reference")}</a>
      <span class="push" />
      <button type="button" class="link" onClick={() => chooseTheme(isDark ? "light" : "dark")}>
        {isDark ? t("Light colours") : t("Dark colours")}
      </button>
    </footer>
  );
}

function Brand(): VNode {
  return (
    <a class="brand" href="/">
      <svg
        width="22"
        height="24"
        viewBox="0 0 22 24"
        fill="none"
        stroke="currentColor"
        stroke-width="2.4"
        stroke-linecap="round"
        aria-hidden="true"
      >
        <path d="M4 2v20M18 2v20M4 8l7 5 7-5M4 17h14" />
      </svg>
      Gatepost
    </a>
  );
}

function PageLink({ href, children }: { href: string; children: ComponentChildren }): VNode {
  return (
    <a href={href} {...(path.value === href ? { "aria-current": "page" as const } : {})}>
      {children}
    </a>
  );
}

/** On a narrow screen: four pages at the bottom, and the rest behind "More". */
function TabBar({ session }: { session: SessionState | undefined }): VNode {
  const drawer = useRef<HTMLDivElement>(null);
  useEffect(() => path.subscribe(() => drawer.current?.hidePopover()), []);
  const main = pagesOf(session).filter(({ group }) => group === "main");
  const isElsewhere = !main.some((page) => page.path === path.value);
  return (
    <>
      <nav class="tabbar" aria-label={t("Main, at the bottom")}>
        {main.map((page) => (
          <PageLink key={page.path} href={page.path}>
            {page.icon === undefined ? null : <Icon name={page.icon} />}
            {t(page.name)}
          </PageLink>
        ))}
        <button
          type="button"
          class={session === undefined ? "unshown" : ""}
          popovertarget="drawer"
          {...(isElsewhere && { "aria-current": "true" as const })}
        >
          <Icon name="more" />
          {t("More")}
        </button>
      </nav>
      <div class="drawer" id="drawer" popover="auto" ref={drawer}>
        <nav class="nav" aria-label={t("More pages")}>
          <Groups session={session} names={["build", "admin"]} />
        </nav>
        <AccountMenu />
      </div>
    </>
  );
}

const GROUPS = { main: "", build: "Build", admin: "Administration" } as const;
type GroupName = keyof typeof GROUPS;

const pagesOf = (session: SessionState | undefined): readonly Page[] =>
  session === undefined ? [] : PAGES.filter((page) => isOpenTo(page, session));

function Groups(props: { session: SessionState | undefined; names: readonly GroupName[] }): VNode {
  const open = pagesOf(props.session);
  return (
    <>
      {props.names.map((name) => {
        const pages = open.filter(({ group }) => group === name);
        if (pages.length === 0) return null;
        return (
          <>
            {GROUPS[name] === "" ? null : <h2>{t(GROUPS[name])}</h2>}
            {pages.map((page) => (
              <PageLink key={page.path} href={page.path}>
                {page.icon === undefined ? null : <Icon name={page.icon} />}
                {t(page.name)}
              </PageLink>
            ))}
          </>
        );
      })}
    </>
  );
}

function Who({ session }: { session: SessionState | undefined }): VNode | null {
  if (session?.account === undefined) return null;
  const { email } = session.account;
  return (
    <>
      <button type="button" class="who" popovertarget="account-menu" title={email}>
        <span>{email}</span>
        <span class="unseen">{t(", account menu")}</span>
        <span aria-hidden="true">⋯</span>
      </button>
      <div class="menu" id="account-menu" popover="auto">
        <AccountMenu />
      </div>
      <button
        type="button"
        class="small plain"
        onClick={openCommands}
        aria-keyshortcuts="Control+K"
      >
        {t("Go to…")} <kbd>Ctrl K</kbd>
      </button>
    </>
  );
}

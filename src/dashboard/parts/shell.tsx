import type { ComponentChildren, VNode } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { ApiFault, call } from "../api/client.ts";
import type { SessionState } from "../api/shapes.ts";
import { useAction } from "../app/load.ts";
import { isOpenTo, type Page, PAGES } from "../app/pages.ts";
import { doorTo, go, path } from "../app/router.ts";
import { signedOut } from "../app/session.ts";
import { chooseTheme, theme, THEMES } from "../app/theme.ts";
import { AllowanceBox } from "./allowance-box.tsx";
import { Fault } from "./states.tsx";

/** The frame of every page: rail, or top bar and drawer where it is narrow. */
export function Shell(props: {
  session: SessionState | undefined;
  children: ComponentChildren;
}): VNode {
  const { session } = props;
  return (
    <div class="shell">
      <a class="skip button" href="#content">
        Skip to the page
      </a>
      <header class="rail">
        <Brand />
        <Navigation session={session} />
        <div class="rail-foot">
          <AllowanceBox />
          <Who session={session} />
        </div>
      </header>
      <Top session={session} />
      <main id="content" tabIndex={-1}>
        {props.children}
      </main>
    </div>
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

/** On a narrow screen: the name, and everything else in a drawer. */
function Top({ session }: { session: SessionState | undefined }): VNode {
  const drawer = useRef<HTMLDivElement>(null);
  useEffect(() => path.subscribe(() => drawer.current?.hidePopover()), []);
  return (
    <>
      <header class="bar-top">
        <Brand />
        <button type="button" class="plain" popovertarget="drawer">
          Menu
        </button>
      </header>
      <div class="drawer" id="drawer" popover="auto" ref={drawer}>
        <button type="button" class="small" popovertarget="drawer" popovertargetaction="hide">
          Close menu
        </button>
        <Navigation session={session} />
        <AllowanceBox />
        {session?.account === undefined ? <Enter session={session} /> : <AccountMenu />}
      </div>
    </>
  );
}

const GROUPS = [
  ["main", undefined],
  ["account", "Account"],
  ["help", "Help"],
  ["admin", "Administration"],
] as const;

function Navigation({ session }: { session: SessionState | undefined }): VNode {
  const open = session === undefined ? [] : PAGES.filter((page) => isOpenTo(page, session));
  return (
    <nav class="nav" aria-label="Main">
      {GROUPS.map(([group, title]) => (
        <Group key={group} title={title} pages={open.filter((page) => page.group === group)} />
      ))}
    </nav>
  );
}

function Group({
  title,
  pages,
}: {
  title: string | undefined;
  pages: readonly Page[];
}): VNode | null {
  if (pages.length === 0) return null;
  return (
    <>
      {title === undefined ? null : <h2>{title}</h2>}
      {pages.map((page) => (
        <a
          key={page.path}
          href={page.path}
          {...(page.path === path.value ? { "aria-current": "page" as const } : {})}
        >
          {page.name}
        </a>
      ))}
    </>
  );
}

function Who({ session }: { session: SessionState | undefined }): VNode | null {
  if (session === undefined) return null;
  if (session.account === undefined) return <Enter session={session} />;
  const { email } = session.account;
  return (
    <>
      <button type="button" class="who" popovertarget="account-menu" title={email}>
        <span>{email}</span>
        <span class="unseen">, account menu</span>
        <span aria-hidden="true">⋯</span>
      </button>
      <div class="menu" id="account-menu" popover="auto">
        <AccountMenu />
      </div>
    </>
  );
}

function Enter({ session }: { session: SessionState | undefined }): VNode | null {
  if (session === undefined) return null;
  return (
    <div class="stack close">
      <a class="button" href={doorTo("/sign-in")}>
        Sign in
      </a>
      {session.signup === "open" ? (
        <a class="button plain" href={doorTo("/sign-up")}>
          Create an account
        </a>
      ) : null}
    </div>
  );
}

/** A session that has ended already is what was asked for. */
function unlessOut(error: unknown): void {
  if (!(error instanceof ApiFault && error.status === 401)) throw error;
}

function AccountMenu(): VNode {
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
        Your account
      </a>
      <button type="button" disabled={busy} onClick={signOut}>
        Sign out
      </button>
      <Fault text={fault} />
      <ThemeChoice />
    </div>
  );
}

function ThemeChoice(): VNode {
  const group = useId(); // it is there twice: in the rail and in the drawer
  return (
    <fieldset>
      <legend>Appearance</legend>
      {THEMES.map((name) => (
        <label key={name}>
          <input
            type="radio"
            name={group}
            checked={theme.value === name}
            onChange={() => chooseTheme(name)}
          />
          {name === "system" ? "As the system" : name === "light" ? "Light" : "Dark"}
        </label>
      ))}
    </fieldset>
  );
}

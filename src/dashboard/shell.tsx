import type { ComponentChildren, VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { ApiFault, post } from "./lib/client.ts";
import { count, counted, relativeTime, timeMs } from "./lib/format.ts";
import { health, HealthWatch } from "./lib/health.ts";
import { doorTo, go, path } from "./lib/router.ts";
import { allowance, leftOf, ownEmail, session, signedOut } from "./lib/session.ts";
import { theme } from "./lib/state.ts";
import { isOpen, type RailLink, PAGES, RAIL } from "./pages.ts";
import { Act } from "./parts/act.tsx";
import { Button } from "./parts/button.tsx";
import { Field } from "./parts/form.tsx";
import { Mark, Meter } from "./parts/marks.tsx";
import { Go, PageLink, waiting } from "./parts/page.tsx";
import { tierName } from "./words/names.ts";

type ShellProps = { children: ComponentChildren };

function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("content")?.focus();
}

export function Shell({ children }: ShellProps): VNode {
  const Frame = ownEmail() === "" ? VisitorShell : AccountShell;
  return (
    <>
      <a class="skip button" href="#content" onClick={skip}>
        Skip to the page
      </a>
      <Frame>
        <main id="content" tabIndex={-1} class={waiting.value > 0 ? "waiting" : ""}>
          {children}
        </main>
      </Frame>
    </>
  );
}

function AccountShell({ children }: ShellProps): VNode {
  const email = ownEmail();
  return (
    <div class="shell">
      {session.value.account?.admin && <HealthWatch />}
      <header class="rail">
        <Brand />
        <nav class="nav" aria-label="Main">
          <Links group="main" />
          <Links group="Account" />
          <Links group="Operator" />
        </nav>
        <div class="rail-foot stack close">
          <AllowanceBox />
          <button type="button" class="who plain note" popovertarget="menu" title={email}>
            <span>{email}</span>
            <span class="unseen">, account menu</span>
            <span aria-hidden="true">⋯</span>
          </button>
        </div>
      </header>
      <header class="bar bar-top">
        <Brand />
        <AllowanceBox />
      </header>
      {children}
      <TabBar />
      <Menu />
    </div>
  );
}

const DARK_SYSTEM = "(prefers-color-scheme: dark)";

function VisitorShell({ children }: ShellProps): VNode {
  const { signup, version } = session.value;
  const isDark =
    theme.value === "dark" || (theme.value === "system" && matchMedia(DARK_SYSTEM).matches);
  return (
    <div class="visitor">
      <header class="bar bar-visitor">
        <Brand />
        <nav aria-label="Main">
          <a href="docs">API</a>
        </nav>
        {!path.value.startsWith("sign-") && (
          <div class="bar">
            <Go to={doorTo("sign-in")} act="Sign in" class="plain" />
            {signup === "open" && <Go to={doorTo("sign-up")} act="Sign up" />}
          </div>
        )}
      </header>
      {children}
      <footer class="bar note">
        <span>Gatepost {version}</span>
        <a href="docs">API reference</a>
        <Button
          act={isDark ? "Light colours" : "Dark colours"}
          class="link push"
          onClick={() => (theme.value = isDark ? "light" : "dark")}
        />
      </footer>
    </div>
  );
}

const Brand = (): VNode => (
  <a class="brand" href="./">
    <svg width="22" height="24" viewBox="0 0 22 24" aria-hidden="true">
      <path d="M4 2v20M18 2v20M4 8l7 5 7-5M4 17h14" />
    </svg>
    Gatepost
  </a>
);

const Icon = ({ d, width = "1.7" }: { d: string; width?: string }): VNode => (
  <svg class="icon" viewBox="0 0 18 18" aria-hidden="true">
    <path d={d} stroke-width={width} />
  </svg>
);

function Links({ group }: { group: keyof typeof RAIL }): VNode | null {
  const open = new Set(PAGES.filter(isOpen).map(([at]) => at));
  const links = (RAIL[group] as readonly RailLink[]).filter(([to]) => open.has(to));
  if (links.length === 0) return null;
  return (
    <>
      {group !== "main" && <h2 class="note">{group}</h2>}
      {links.map(([to, name, icon]) => (
        <PageLink key={to} to={to} below>
          {icon && <Icon d={icon} />}
          {name}
          {to === "admin/system" && troubleMark()}
        </PageLink>
      ))}
    </>
  );
}

function troubleMark(): VNode | null {
  const { value, fault } = health.value;
  if (fault !== "") return <Mark mark="no" words="No answer" />;
  const { broken = [] } = value ?? {};
  if (broken.length === 0) return null;
  return broken.some(({ stops }) => stops) ? (
    <Mark mark="no" words={`${count(broken.length)} broken`} />
  ) : (
    <Mark mark="unsure" words={`${count(broken.length)} to see`} />
  );
}

function TabBar(): VNode {
  const isElsewhere = !RAIL.main.some(([to]) => to === path.value.split("/")[0]);
  return (
    <nav class="tabbar" aria-label="Main, at the bottom">
      <Links group="main" />
      <button type="button" popovertarget="menu" aria-current={isElsewhere ? "true" : undefined}>
        {troubleMark() ?? <Icon d="M3 9h.01M9 9h.01M15 9h.01" width="2.8" />}
        More
      </button>
    </nav>
  );
}

const THEMES = [
  ["system", "As the system"],
  ["light", "Light"],
  ["dark", "Dark"],
] as const;

function Menu(): VNode {
  const menu = useRef<HTMLDivElement>(null);
  const close = (): void => menu.current?.hidePopover();
  useEffect(() => path.subscribe(close), []);
  const signOut = async (): Promise<void> => {
    await post("sign-out").catch((error: unknown) => {
      // A session that has ended already is what was asked for.
      if (!(error instanceof ApiFault && error.status === 401)) throw error;
    });
    close();
    go("./");
    await signedOut();
  };
  return (
    <div class="menu" id="menu" popover="auto" ref={menu}>
      <nav class="nav" aria-label="More pages">
        <Links group="Account" />
        <Links group="Operator" />
      </nav>
      <Act act="Sign out" class="plain" send={signOut} />
      <Field
        label="Appearance"
        value={theme.value}
        choices={THEMES}
        onValue={(name) => (theme.value = name)}
      />
    </div>
  );
}

function AllowanceBox(): VNode | null {
  const known = allowance.value;
  if (known === undefined || path.value === "usage") return null;
  const { day, month, credits, tier } = known;
  const isToday = leftOf(day) <= leftOf(month);
  const purse = isToday ? day : month;
  const left = leftOf(purse);
  const limit = purse.limit ?? 0;
  return (
    <div class="allow stack close note">
      {left === Infinity ? (
        <div>{counted(day.used, "check")} today, no limit</div>
      ) : (
        <>
          <div>
            <b>{count(left)}</b> of {count(limit)} checks left {isToday ? "today" : "this month"}
          </div>
          {left === 0 ? <div>It starts again {relativeTime(timeMs(purse.resets_at))}.</div> : null}
          <Meter share={limit === 0 ? 0 : left / limit} />
          {credits > 0 ? <div>and {counted(credits, "credit")}</div> : null}
        </>
      )}
      <div>
        <a href="usage">{tierName(tier)}</a>
      </div>
    </div>
  );
}

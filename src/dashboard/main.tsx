import "./api/asked.ts";
import { effect } from "@preact/signals";
import { render } from "preact";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/shell.css";
import "./styles/parts.css";
import "./styles/figures.css";
import "./styles/verdict.css";
import "./styles/front.css";
import "./styles/lists.css";
import "./styles/pages.css";
import { App } from "./app.tsx";
import { checkLinked, checkRun } from "./app/check-run.ts";
import { refuseDrops } from "./app/dropped.ts";
import { keepFocus } from "./app/kept-focus.ts";
import { loadPart } from "./app/loaded-parts.ts";
import { PAGES } from "./app/pages.ts";
import { fragment, path, startRouter } from "./app/router.ts";
import { loadSession, session, wasHere, watchOtherTabs } from "./app/session.ts";
import { showTheme, theme } from "./app/theme.ts";
import { DETAILS } from "./pages/check/verdict-sheet.tsx";
import { listenForCommands } from "./frame/commands-key.ts";

// The page's own code and who is here are asked for at once, not one after the other.
const likely = PAGES.filter((page) => page.path === path.value);
void loadPart(likely.find((page) => (page.for === "visitor") !== wasHere()) ?? likely[0]);
const asked = loadSession();
// Shown by the app; without a listener a refusal would be reported before the app follows it.
asked.catch(() => undefined);
// An account's page asks when it knows whose it is.
const isFront = path.value === "/" && !wasHere();
if (isFront) checkLinked();

/** Longest wait before the front page is drawn without them. */
const KNOWN_WITHIN_MS = 250;

/** Until it is known who is here, and what a linked entry came to: a page that is drawn once is there sooner. */
const known = (): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, KNOWN_WITHIN_MS);
    asked.catch(() => resolve());
    effect(() => {
      if (session.value !== undefined && checkRun.value.shown.state !== "checking") resolve();
    });
  });

showTheme(theme.value);
startRouter();
watchOtherTabs();
keepFocus();
refuseDrops();
listenForCommands();
if (isFront) await known();
const root = document.getElementById("app");
if (root !== null) render(<App asked={asked} />, root);
if (path.value === "/" && fragment.value !== "") void loadPart(DETAILS);

import { effect } from "@preact/signals";
import { render } from "preact";
import "./styles/base.css";
import "./styles/frame.css";
import "./styles/parts.css";
import "./styles/pages.css";
import { App } from "./app.tsx";
import { checkLinked, shownCheck } from "./lib/check-run.ts";
import { loadPart } from "./lib/load.ts";
import { catchDrops, keepFocus } from "./lib/page.ts";
import { fragment, path, startRouter } from "./lib/router.ts";
import { loadSession, session, wasHere, watchOtherTabs } from "./lib/session.ts";
import { PAGES } from "./pages.ts";
import { DETAILS } from "./pages/ask.tsx";

// The page's own code and who is here are asked for at once, not one after the other.
const likely = PAGES.filter((page) => page.path === path.value);
void loadPart(likely.find((page) => (page.for === "visitor") !== wasHere()) ?? likely[0]);
const asked = loadSession();
// Shown by the app; without a listener a refusal would be reported before the app follows it.
asked.catch(() => undefined);
// An account's page asks when it knows whose it is.
const isFront = path.value === "" && !wasHere();
if (isFront) checkLinked();

/** Longest wait before the front page is drawn without them. */
const KNOWN_WITHIN_MS = 250;

/** Until it is known who is here, and what a linked entry came to: a page that is drawn once is there sooner. */
const known = (): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, KNOWN_WITHIN_MS);
    asked.catch(() => resolve());
    effect(() => {
      if (session.value !== undefined && shownCheck.value.state !== "checking") resolve();
    });
  });

startRouter();
watchOtherTabs();
keepFocus();
catchDrops();
if (isFront) await known();
const root = document.getElementById("app");
if (root !== null) render(<App asked={asked} />, root);
if (path.value === "" && fragment.value !== "") void loadPart(DETAILS);

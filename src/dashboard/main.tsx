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
import { checkLinked } from "./app/check-run.ts";
import { refuseDrops } from "./app/dropped.ts";
import { language } from "./app/i18n.ts";
import { keepFocus } from "./app/kept-focus.ts";
import { loadWords } from "./app/language.ts";
import { loadPart } from "./app/loaded-parts.ts";
import { PAGES } from "./app/pages.ts";
import { fragment, path, startRouter } from "./app/router.ts";
import { loadSession, wasHere, watchOtherTabs } from "./app/session.ts";
import { chooseTheme, theme } from "./app/theme.ts";
import { ANSWER } from "./pages/front/front.tsx";
import { listenForCommands } from "./frame/commands-key.ts";

// The page's own code, the language and who is here are asked for at once, not one after the other.
const likely = PAGES.filter((page) => page.path === path.value);
void loadPart(likely.find((page) => (page.for === "visitor") !== wasHere()) ?? likely[0]);
const asked = loadSession();
// Shown by the app; without a listener a refusal would be reported before the app follows it.
asked.catch(() => undefined);
if (path.value === "/" && fragment.value !== "") {
  void loadPart(ANSWER);
  // An account's page asks when it knows whose it is.
  if (!wasHere()) checkLinked();
}
chooseTheme(theme.value);
startRouter();
watchOtherTabs();
keepFocus();
refuseDrops();
listenForCommands();
document.documentElement.lang = language;
await loadWords("first");
const root = document.getElementById("app");
if (root !== null) render(<App asked={asked} />, root);

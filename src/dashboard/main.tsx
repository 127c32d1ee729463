import { render } from "preact";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/shell.css";
import "./styles/parts.css";
import "./styles/pages.css";
import { App } from "./app.tsx";
import { refuseDrops } from "./app/dropped.ts";
import { keepFocus } from "./app/kept-focus.ts";
import { loadPage } from "./app/loaded-pages.ts";
import { PAGES } from "./app/pages.ts";
import { path, startRouter } from "./app/router.ts";
import { loadSession, watchOtherTabs } from "./app/session.ts";
import { chooseTheme, theme } from "./app/theme.ts";

// The page's own code and who is here are asked for at once, not one after the other.
void loadPage(PAGES.find((page) => page.path === path.value));
const asked = loadSession();
chooseTheme(theme.value);
startRouter();
watchOtherTabs();
keepFocus();
refuseDrops();
const root = document.getElementById("app");
if (root !== null) render(<App asked={asked} />, root);

import { render } from "preact";
import "./styles/base.css";
import "./styles/frame.css";
import "./styles/parts.css";
import "./styles/pages.css";
import { App } from "./app.tsx";
import { faultText } from "./lib/client.ts";
import { catchDrops, keepFocus } from "./lib/page.ts";
import { startRouter } from "./lib/router.ts";
import { loadSession, watchOtherTabs } from "./lib/session.ts";

startRouter();
watchOtherTabs();
keepFocus();
catchDrops();
// A page that is drawn once is there sooner. The page itself asks who is here before this script comes.
const fault = await loadSession().then(() => "", faultText);
const root = document.getElementById("app");
if (root !== null) render(<App fault={fault} />, root);

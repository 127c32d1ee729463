import { render } from "preact";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/shell.css";
import "./styles/parts.css";
import "./styles/pages.css";
import { App } from "./app.tsx";
import { startRouter } from "./app/router.ts";
import { chooseTheme, theme } from "./app/theme.ts";

chooseTheme(theme.value);
startRouter();
const root = document.getElementById("app");
if (root !== null) render(<App />, root);

import { signal } from "@preact/signals";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const STORED = "gatepost-theme";

export const theme = signal<Theme>(THEMES.find((name) => name === stored()) ?? "system");

/** Storage may be switched off in the browser. */
function stored(): string | null {
  try {
    return localStorage.getItem(STORED);
  } catch {
    return null;
  }
}

/** Shows the page in `name`. */
export function showTheme(name: Theme): void {
  theme.value = name;
  if (name === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = name;
}

/** The same, and remembers it in this browser. */
export function chooseTheme(name: Theme): void {
  showTheme(name);
  try {
    localStorage.setItem(STORED, name);
  } catch {
    // Then it holds for this visit.
  }
}

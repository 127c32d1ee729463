import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

// No code or style inside the page: the server's Content-Security-Policy allows none.
// oxlint-disable-next-line import/no-default-export
export default defineConfig({
  root: path("src/dashboard"),
  base: "/",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: path("dist/dashboard"),
    emptyOutDir: true,
    manifest: "manifest.json", // the server reads from it which chunks a page begins with
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
    reportCompressedSize: false,
  },
});

import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/**
 * Has the browser compile all functions of the first script beside the page, not one after the other where the page
 * waits for them: a first verdict takes a fifth less of its time. Browsers that do not know the words pass over them.
 */
const compiledAtOnce: Plugin = {
  name: "compiled-at-once",
  generateBundle: {
    order: "post",
    handler(_, files) {
      for (const file of Object.values(files)) {
        if (file.type !== "chunk" || file.name !== "first") continue;
        file.code = `//# allFunctionsCalledOnLoad\n${file.code}`;
      }
    },
  },
};

interface Graph {
  readonly getModuleInfo: (id: string) => { readonly importers: readonly string[] } | null;
}

/** Whether the page's entry needs a module before it runs, itself or by what it imports. */
function isInFirst(id: string, graph: Graph, seen = new Set<string>()): boolean {
  if (seen.has(id)) return false;
  seen.add(id);
  if (id.endsWith("/dashboard/main.tsx")) return true;
  const importers = graph.getModuleInfo(id)?.importers ?? [];
  return importers.some((importer) => isInFirst(importer, graph, seen));
}

// No code or style inside the page: the server's Content-Security-Policy allows none.
// oxlint-disable-next-line import/no-default-export
export default defineConfig({
  root: path("src/dashboard"),
  base: "./",
  plugins: [compiledAtOnce],
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: path("dist/dashboard"),
    emptyOutDir: true,
    license: { fileName: "licenses.md" },
    manifest: "manifest.json", // the server reads from it which chunks a page begins with
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
    rollupOptions: {
      output: {
        codeSplitting: {
          // One file: as parts that pages share it was 28 requests before the first paint.
          groups: [
            { debugName: "first", name: (id, graph) => (isInFirst(id, graph) ? "first" : null) },
            // Pages that use each other: packed together they weigh 4 KB less than one by one.
            {
              name: "own",
              test: /pages\/(?:hooks|keys|usage|settings)|words\/policy|parts\/chart/,
            },
            { name: "gate", test: /pages\/(?:policy|rule-|decision)|words\/decisions/ },
            { name: "operator", test: /pages\/(?:accounts|rules|system|set-up)/ },
          ],
        },
      },
    },
    reportCompressedSize: false,
  },
});

import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

const RUN = path("dist/run");

/** Modules find files beside them, so each goes on with the address that it had before it was joined with the others. */
const ownAddress: Plugin = {
  name: "own-address",
  transform: (code, id) =>
    code.replaceAll("import.meta.url", `new URL("${relative(RUN, id)}", import.meta.url).href`),
};

// The program as some 20 files instead of 600: it starts with a quarter less CPU and idles with 11 MB less.
// oxlint-disable-next-line import/no-default-export
export default defineConfig({
  plugins: [ownAddress],
  build: {
    ssr: path("dist/src/main/gatepost.js"),
    outDir: RUN,
    emptyOutDir: true,
    target: "node20",
    minify: false,
    reportCompressedSize: false,
    rolldownOptions: { output: { chunkFileNames: "[name]-[hash].js" } },
  },
});

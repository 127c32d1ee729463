#!/usr/bin/env node
// The command. In a checkout it compiles first when the sources are newer than dist; an installed
// package has no sources and goes straight on.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
if (existsSync(join(root, "src"))) {
  const { build } = await import("../scripts/build.mjs");
  build({ ifStale: true });
}
await import("../dist/src/main/gatepost.js");

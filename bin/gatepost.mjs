#!/usr/bin/env node
// The command. In a checkout it compiles first when the sources are newer than dist; an installed
// package has no sources and goes straight on.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`gatepost: Node ${process.versions.node} is too old; install Node 20.19 or newer.`);
  process.exit(3);
}

const root = dirname(dirname(fileURLToPath(import.meta.url)));
if (existsSync(join(root, "src"))) {
  const { build } = await import("../scripts/build.mjs");
  build({ ifStale: true });
}
await import("../dist/run/gatepost.js");

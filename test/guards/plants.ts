/** Imports that must be refused: a name, then pairs of file and code. */
export const plants: readonly (readonly string[])[] = [
  [
    "core -> adapters (value)",
    "src/core/planted.ts",
    `export { open } from "../adapters/sql/db.ts";`,
  ],
  [
    "core -> node:dns",
    "src/core/planted.ts",
    `import { lookup } from "node:dns"; export const x = lookup;`,
  ],
  ["core -> bare 'dns'", "src/core/planted.ts", `import dns from "dns"; export const x = dns;`],
  [
    "core -> npm package lru-cache",
    "src/core/planted.ts",
    `import { LRUCache } from "lru-cache"; export const x = LRUCache;`,
  ],
  [
    "core/checks -> ports (type only)",
    "src/core/checks/planted.ts",
    `import type { Clock } from "../../ports/clock.ts"; export type X = Clock;`,
  ],
  ["core -> adapters side effect", "src/core/planted.ts", `import "../adapters/sql/db.ts";`],
  [
    "core -> dynamic import",
    "src/core/planted.ts",
    `export const x = import("../adapters/sql/db.ts");`,
  ],
  [
    "core -> import() type",
    "src/core/planted.ts",
    `export type X = typeof import("../adapters/dns/udp.ts");`,
  ],
  [
    "ports -> service",
    "src/ports/planted.ts",
    `export { checkOne } from "../service/check-one.ts";`,
  ],
  [
    "ports -> node:http (type)",
    "src/ports/planted.ts",
    `import type { Server } from "node:http"; export type X = Server;`,
  ],
  [
    "service -> node:fs",
    "src/service/planted.ts",
    `import { readFileSync } from "node:fs"; export const x = readFileSync;`,
  ],
  [
    "service -> node:fs/promises reexport",
    "src/service/planted.ts",
    `export { readFile } from "node:fs/promises";`,
  ],
  [
    "service -> getBuiltinModule",
    "src/service/planted.ts",
    `export const x = process.getBuiltinModule("node:fs");`,
  ],
  [
    "service -> adapters via src path",
    "src/service/bulk/planted.ts",
    `export { open } from "../../../src/adapters/sql/db.ts";`,
  ],
  [
    "service -> gatepost (itself, = main)",
    "src/service/planted.ts",
    `import type * as g from "gatepost-server"; export type X = typeof g;`,
  ],
  [
    "http -> adapters",
    "src/http/routes/planted.ts",
    `export { open } from "../../adapters/sql/db.ts";`,
  ],
  [
    "http -> adapters (inline type)",
    "src/http/routes/planted.ts",
    `import { type clock } from "../../adapters/dns/udp.ts"; export type X = typeof clock;`,
  ],
  [
    "http -> cli (other face)",
    "src/http/routes/planted.ts",
    `export { run } from "../../cli/gatepost.ts";`,
  ],
  ["http -> node:dns", "src/http/routes/planted.ts", `export { lookup } from "node:dns";`],
  [
    "adapters/dns -> adapters/sql",
    "src/adapters/dns/planted.ts",
    `export { open } from "../sql/db.ts";`,
  ],
  [
    "adapters/sql/engine -> adapters/dns",
    "src/adapters/sql/engine/planted.ts",
    `export { socket } from "../../dns/udp.ts";`,
  ],
  [
    "adapters -> service (type only)",
    "src/adapters/sql/planted.ts",
    `import type { checkOne } from "../../service/check-one.ts"; export type X = typeof checkOne;`,
  ],
  [
    "adapters -> http",
    "src/adapters/sql/planted.ts",
    `export { route } from "../../http/routes/email.ts";`,
  ],
  [
    "http -> main",
    "src/http/routes/planted.ts",
    `export { compose } from "../../main/compose.ts";`,
  ],
  ["cli -> main", "src/cli/planted.ts", `export { compose } from "../main/compose.ts";`],
  [
    "service -> a test file",
    "src/service/planted.ts",
    `export * from "../core/checks/spf.test.ts";`,
  ],
  [
    "cycle of values",
    "src/service/planted.ts",
    `import { b } from "./planted2.ts"; export const a = (): unknown => b;`,
    "src/service/planted2.ts",
    `import { a } from "./planted.ts"; export const b = (): unknown => a;`,
  ],
  [
    "cycle of types",
    "src/service/planted.ts",
    `import type { B } from "./planted2.ts"; export interface A { readonly b: B }`,
    "src/service/planted2.ts",
    `import type { A } from "./planted.ts"; export interface B { readonly a: A }`,
  ],
  [
    "cycle of three",
    "src/service/planted.ts",
    `import { b } from "./planted2.ts"; export const a = (): unknown => b;`,
    "src/service/planted2.ts",
    `import { c } from "./planted3.ts"; export const b = (): unknown => c;`,
    "src/service/planted3.ts",
    `export { a as c } from "./planted.ts";`,
  ],
  [
    "vite-ignored comment trick",
    "src/core/planted.ts",
    `// eslint-disable-next-line no-restricted-imports\nexport { open } from "../adapters/sql/db.ts";`,
  ],
  [
    "dashboard -> service",
    "src/dashboard/planted.ts",
    `export { openDashboard } from "../service/account/check.ts";`,
  ],
  [
    "dashboard -> http (type only)",
    "src/dashboard/planted.ts",
    `import type { AccountRoute } from "../http/account/route.ts"; export type X = AccountRoute;`,
  ],
  [
    "dashboard -> the shapes of http/account (value)",
    "src/dashboard/planted.ts",
    `export { Keys } from "../http/account/shapes.ts";`,
  ],
];

export const fine: readonly (readonly string[])[] = [
  [
    "core -> core up two",
    "src/core/checks/planted.ts",
    `export { registrable } from "../domain.ts";`,
  ],
  [
    "adapter -> core type",
    "src/adapters/sql/engine/planted.ts",
    `import type { Lookup } from "../../../core/lookup.ts"; import { open } from "../db.ts"; export const x: Lookup | typeof open = open;`,
  ],
  ["service -> node:crypto", "src/service/planted.ts", `export { createHash } from "node:crypto";`],
  ["core -> tldts", "src/core/planted.ts", `export { parse } from "tldts";`],
  [
    "main -> all",
    "src/main/planted.ts",
    `import { open } from "../adapters/sql/db.ts"; import { route } from "../http/routes/email.ts"; export const x = [open, route];`,
  ],
  [
    "dashboard -> the shapes of http/account (type only)",
    "src/dashboard/planted.ts",
    `import type { Key } from "../http/account/shapes.ts"; export type X = Key;`,
  ],
];

/** Imports that must be refused: a name, then pairs of file and code. */
export const plants: readonly (readonly string[])[] = [
  ["core to store", "src/core/planted.ts", `export { open } from "../store/database.ts";`],
  [
    "core to node:dns",
    "src/core/planted.ts",
    `import { lookup } from "node:dns"; export const x = lookup;`,
  ],
  [
    "core to a package",
    "src/core/planted.ts",
    `import { LRUCache } from "lru-cache"; export const x = LRUCache;`,
  ],
  [
    "core to base, types only",
    "src/core/checks/planted.ts",
    `import type { Clock } from "../../base/clock.ts"; export type X = Clock;`,
  ],
  ["core to store, for its side effect", "src/core/planted.ts", `import "../store/database.ts";`],
  [
    "core to store, dynamic",
    "src/core/planted.ts",
    `export const x = import("../store/database.ts");`,
  ],
  [
    "core to dns, a type of the module",
    "src/core/planted.ts",
    `export type X = typeof import("../dns/resolver.ts");`,
  ],
  ["base to store", "src/base/planted.ts", `export { open } from "../store/database.ts";`],
  ["store to accounts", "src/store/planted.ts", `export { keys } from "../accounts/keys.ts";`],
  ["lists to check", "src/lists/planted.ts", `export { checkOne } from "../check/check-one.ts";`],
  [
    "accounts to gate",
    "src/accounts/planted.ts",
    `export { decide } from "../gate/decide-one.ts";`,
  ],
  ["check to bulk", "src/check/planted.ts", `export { submit } from "../bulk/submit.ts";`],
  ["gate to http", "src/gate/planted.ts", `export { route } from "../http/answer/route.ts";`],
  ["gate to main", "src/gate/planted.ts", `export { serve } from "../main/server.ts";`],
  ["webhooks to cli", "src/webhooks/planted.ts", `export { run } from "../cli/program.ts";`],
  ["http to cli", "src/http/planted.ts", `export { run } from "../cli/program.ts";`],
  ["http to main", "src/http/planted.ts", `export { compose } from "../main/server.ts";`],
  ["cli to main", "src/cli/planted.ts", `export { compose } from "../main/server.ts";`],
  [
    "dashboard to gate",
    "src/dashboard/planted.ts",
    `export { decide } from "../gate/decide-one.ts";`,
  ],
  [
    "bulk to gatepost-server, which is main",
    "src/bulk/planted.ts",
    `import type * as g from "gatepost-server"; export type X = typeof g;`,
  ],
  ["bulk to a test file", "src/bulk/planted.ts", `export * from "../core/checks/spf.test.ts";`],
  [
    "an unknown folder",
    "src/ports/planted.ts",
    `export const x = 1;\nexport * from "../core/name/domain.ts";`,
  ],
  [
    "cycle of values",
    "src/gate/planted.ts",
    `import { b } from "./planted2.ts"; export const a = (): unknown => b;`,
    "src/gate/planted2.ts",
    `import { a } from "./planted.ts"; export const b = (): unknown => a;`,
  ],
  [
    "cycle of types",
    "src/gate/planted.ts",
    `import type { B } from "./planted2.ts"; export interface A { readonly b: B }`,
    "src/gate/planted2.ts",
    `import type { A } from "./planted.ts"; export interface B { readonly a: A }`,
  ],
  [
    "cycle of three",
    "src/gate/planted.ts",
    `import { b } from "./planted2.ts"; export const a = (): unknown => b;`,
    "src/gate/planted2.ts",
    `import { c } from "./planted3.ts"; export const b = (): unknown => c;`,
    "src/gate/planted3.ts",
    `export { a as c } from "./planted.ts";`,
  ],
];

/** Imports that must be allowed. */
export const fine: readonly (readonly string[])[] = [
  [
    "main to everything",
    "src/main/planted.ts",
    `export { open } from "../store/database.ts"; export { run } from "../cli/program.ts";`,
  ],
  [
    "gate to check and base",
    "src/gate/planted.ts",
    `export { checkOne } from "../check/check-one.ts"; export { every } from "../base/every.ts";`,
  ],
  [
    "bulk to webhooks, its neighbour",
    "src/bulk/planted.ts",
    `export { announce } from "../webhooks/announce.ts";`,
  ],
  ["core to tldts", "src/core/planted.ts", `export { parse } from "tldts";`],
];

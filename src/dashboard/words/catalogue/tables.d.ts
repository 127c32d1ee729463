/** The build makes a module for each language of a table. */
declare module "*.yaml?de" {
  import type { Built } from "./catalogue.ts";
  export const built: Built;
}
declare module "*.yaml?es" {
  import type { Built } from "./catalogue.ts";
  export const built: Built;
}
declare module "*.yaml?fr" {
  import type { Built } from "./catalogue.ts";
  export const built: Built;
}

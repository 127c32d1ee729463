export { announce } from "../app/announce.ts";

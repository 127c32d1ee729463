export { fragment, go } from "../app/router.ts";

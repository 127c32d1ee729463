/** What `account/*` sends: the server's own types. */
export type * from "../../http/account/shapes.ts";

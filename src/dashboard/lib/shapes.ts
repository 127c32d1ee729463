/** What `account/*` sends: the server's own types. */
export type * from "../../http/account/shapes.ts";
export type * from "../../http/account/admin-shapes.ts";
export type {
  BackTestReport,
  HooksPage,
  OutcomeReport,
  PolicyPage,
  PolicyRow,
  PolicyTest,
  ShadowReport,
} from "../../http/account/gate-shapes.ts";

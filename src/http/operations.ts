import { checkOperations } from "./api/check.ts";
import { CHECK_LIST } from "./api/bulk.ts";
import { DECIDE } from "./api/decide.ts";
import { EXPLAIN } from "./api/explain.ts";
import { DECISION_LOG, FEEDBACK } from "./api/feedback.ts";
import { UPLOAD } from "./api/upload.ts";
import { VIEWS } from "./api/view.ts";
import type { Operation } from "./operation.ts";
import { disposableOperations } from "./system/disposable-page.ts";
import { systemOperations } from "./system/system.ts";

/** Everything that clients can ask, in the order of `/openapi.json`: what most readers come for stands first. */
export const OPERATIONS: readonly Operation[] = [
  DECIDE,
  FEEDBACK,
  DECISION_LOG,
  ...checkOperations("email"),
  ...checkOperations("domain"),
  EXPLAIN,
  CHECK_LIST,
  UPLOAD,
  ...VIEWS,
  ...systemOperations,
  ...disposableOperations,
];

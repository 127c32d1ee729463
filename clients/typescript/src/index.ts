export {
  type BulkOptions,
  type CallOptions,
  type CountBy,
  type CheckOptions,
  createGatepost,
  type DecideOptions,
  type Feedback,
  type Gatepost,
  type GatepostOptions,
} from "./client.ts";
export type { BulkResult, BulkStats, Progress } from "./bulk.ts";
export {
  type Decision,
  DECISIONS,
  type FaultKind,
  GatepostError,
  type Mailbox,
  type MaySend,
  type OwnDecision,
  type RefusedDecision,
  type Result,
  type ServiceDecision,
  type Verdict,
} from "./results.ts";
export {
  type Claims,
  rememberTokens,
  type TokenFault,
  type TokenQuestion,
  type TokenResult,
  type UsedTokens,
  verifyToken,
} from "./token.ts";
export { verifyWebhook } from "./webhook.ts";

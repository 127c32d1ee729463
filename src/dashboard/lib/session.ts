export { loadAllowance, signIns } from "../app/session.ts";

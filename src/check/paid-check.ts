import type { Receipt } from "../accounts/admission/admission.ts";

/** Does the work that was paid for; a fault gives the unit back. */
export async function orRefund<T>(receipt: Receipt, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (fault) {
    await receipt.refund();
    throw fault;
  }
}

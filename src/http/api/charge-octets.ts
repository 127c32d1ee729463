import { SMALL_BODY_OCTETS } from "../../base/resources.ts";
import type { Admission, Entrance } from "../../accounts/admission/admission.ts";
import type { Refusal } from "../../base/refusals.ts";

/** Refusals that come after a body was decoded, or cut short for its size. */
const COSTLY = new Set([400, 413, 422]);

/**
 * A refused body costs one request for each 64 KiB of it that was read, because reading is the work. Returns the
 * entrance with the rate that is left; undefined when nothing was charged.
 */
export async function chargeOctets(
  entrance: Entrance | undefined,
  octets: number,
  {
    refusal,
    admission,
  }: { readonly refusal: Refusal; readonly admission: Pick<Admission, "spend"> },
): Promise<Entrance | undefined> {
  const more = Math.ceil(octets / SMALL_BODY_OCTETS) - 1;
  if (entrance === undefined || more <= 0 || !COSTLY.has(refusal.status)) return undefined;
  await admission.spend(entrance, more);
  const { rate } = entrance;
  if (rate === undefined) return undefined;
  return { ...entrance, rate: { ...rate, remaining: Math.max(0, rate.remaining - more) } };
}

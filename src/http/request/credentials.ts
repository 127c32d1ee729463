import type { Credentials } from "../../accounts/admission/admission.ts";
import type { HttpRequest } from "../answer/route.ts";

const NO_CREDENTIALS: Credentials = { apiKey: [], authorization: [] };

/** Node joins repeated headers or drops all but the first; the raw list has them all. */
export function credentialsOf({ headers, rawHeaders }: HttpRequest): Credentials {
  if (headers["x-api-key"] === undefined && headers.authorization === undefined) {
    return NO_CREDENTIALS;
  }
  const values = (name: string): string[] =>
    rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name);
  return { apiKey: values("x-api-key"), authorization: values("authorization") };
}

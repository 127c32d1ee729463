import type { Credentials } from "../../accounts/admission/admission.ts";
import type { HttpRequest } from "../answer/route.ts";

const NO_CREDENTIALS: Credentials = { apiKey: [], authorization: [] };

/** Node joins repeated headers or drops all but the first; the raw list has them all. */
export function credentialsOf({ headers, rawHeaders }: HttpRequest): Credentials {
  if (headers["x-api-key"] === undefined && headers.authorization === undefined) {
    return NO_CREDENTIALS;
  }
  const [apiKey, authorization]: [string[], string[]] = [[], []];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase();
    if (name === "x-api-key") apiKey.push(rawHeaders[at + 1] ?? "");
    else if (name === "authorization") authorization.push(rawHeaders[at + 1] ?? "");
  }
  return { apiKey, authorization };
}

import type { FastifyRequest } from "fastify";
import type { Credentials } from "../../service/admission/admission.ts";

const NO_CREDENTIALS: Credentials = { apiKey: [], authorization: [] };

/** Node joins repeated headers or drops all but the first; the raw list has them all. */
export function credentialsOf({ raw }: FastifyRequest): Credentials {
  const { headers, rawHeaders } = raw;
  if (headers["x-api-key"] === undefined && headers.authorization === undefined) {
    return NO_CREDENTIALS;
  }
  const values = (name: string): string[] =>
    rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name);
  return { apiKey: values("x-api-key"), authorization: values("authorization") };
}

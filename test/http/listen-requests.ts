export const get = (target: string, ...headers: readonly string[]): string =>
  `GET ${target} HTTP/1.1\r\nHost: a\r\n${headers.map((line) => `${line}\r\n`).join("")}\r\n`;

export const post = (
  target: string,
  type: string,
  body: string,
  ...headers: readonly string[]
): string =>
  `POST ${target} HTTP/1.1\r\nHost: a\r\n${type === "" ? "" : `Content-Type: ${type}\r\n`}` +
  `${headers.map((line) => `${line}\r\n`).join("")}Content-Length: ${Buffer.byteLength(body, "latin1")}\r\n\r\n${body}`;

export const FORM = "application/x-www-form-urlencoded";
export const JSON_TYPE = "application/json";
export const posted = (body: string): string => post("/api/email", FORM, body);
export const json = (body: string): string => post("/api/email", JSON_TYPE, body);
export const multipart = (body: string): string =>
  post("/api/email", "multipart/form-data; boundary=x", body);
export const part = (name: string, value: string): string =>
  `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;

/** More than Node counts unless told. */
export const MANY_HEADERS = Array.from({ length: 2_500 }, (_, index) => `X-${String(index)}: a`);

/** With what stands around it in a request, a head of nearly 16 KiB. */
export const LONG = "a".repeat(16_384 - 64);

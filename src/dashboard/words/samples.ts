/** Ready-made code. Each sample runs as it was copied. */

/** `text` as one word of a POSIX shell. */
const shellQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** The command that checks `entry`, with any characters; without a key as an anonymous caller. */
export function curlOf(baseUrl: string, entry: string, key?: string): string {
  const family = entry.includes("@") ? "email" : "domain";
  return [
    `curl ${baseUrl}/api/${family}`,
    ...(key === undefined ? [] : [`  -H ${shellQuoted(`X-Api-Key: ${key}`)}`]),
    `  --data-urlencode ${shellQuoted(`${family}=${entry}`)}`,
  ].join(" \\\n");
}

/** One sign-up decided in JavaScript; no answer lets the person in. */
export const nodeOf = (baseUrl: string, key: string): string => `const ask = async (email) => {
  try {
    const response = await fetch("${baseUrl}/api/decide", {
      method: "POST",
      headers: { "X-Api-Key": "${key}", "Content-Type": "application/json" },
      body: JSON.stringify({ email }),
      signal: AbortSignal.timeout(3000),
    });
    return response.ok ? await response.json() : { decision: "accept" };
  } catch {
    return { decision: "accept" };
  }
};

ask("jane@example.org").then(({ decision, message }) => console.log(decision, message ?? ""));`;

/** The two lines that a page needs; the form works as before when the service is away. */
export const widgetOf = (baseUrl: string, key: string): string =>
  `<script src="${baseUrl}/widget.js" data-key="${key}" defer></script>

<input type="email" name="email" data-gatepost>`;

export const VERIFY = `import { createHmac, timingSafeEqual } from "node:crypto";

export function isGenuine(body, header, secret) {
  if (secret === "" || !/^[0-9a-f]{64}$/.test(header ?? "")) return false;
  const wanted = createHmac("sha256", secret).update(body).digest();
  return timingSafeEqual(wanted, Buffer.from(header, "hex"));
}`;

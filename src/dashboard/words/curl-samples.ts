/** Commands for a shell. Each runs as it was copied. */

/** `text` as one word of a POSIX shell. */
export const shellQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** The command that checks `entry`, with any characters; without a key as an anonymous caller. */
export function curlOf(baseUrl: string, entry: string, key?: string): string {
  const family = entry.includes("@") ? "email" : "domain";
  return [
    `curl ${baseUrl}/api/${family}`,
    ...(key === undefined ? [] : [`  -H ${shellQuoted(`X-Api-Key: ${key}`)}`]),
    `  --data-urlencode ${shellQuoted(`${family}=${entry}`)}`,
  ].join(" \\\n");
}

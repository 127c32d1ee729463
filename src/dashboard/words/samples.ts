/** Ready-made code. Each sample runs as it was copied. */

const shellQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

export function curlOf(baseUrl: string, entry: string, key?: string): string {
  const family = entry.includes("@") ? "email" : "domain";
  return [
    `curl ${baseUrl}/api/${family}`,
    ...(key === undefined ? [] : [`  -H ${shellQuoted(`X-Api-Key: ${key}`)}`]),
    `  --data-urlencode ${shellQuoted(`${family}=${entry}`)}`,
  ].join(" \\\n");
}

export const widgetOf = (baseUrl: string, key: string): string =>
  `<script src="${baseUrl}/widget.js" data-key="${key}" defer></script>

<input type="email" name="email" data-gatepost>`;

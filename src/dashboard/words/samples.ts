/** Ready-made code for the reader: curl, TypeScript, Python, PHP. */

/** `text` as one word of a POSIX shell. */
export const shellQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** What stands for the key when the reader has none yet. */
export const KEY_PLACE = "gp_live_…";

/** The command that checks `entry`, whatever characters it holds. */
export function curlOf(baseUrl: string, entry: string, key = KEY_PLACE): string {
  const family = entry.includes("@") ? "email" : "domain";
  return [
    `curl ${baseUrl}/api/${family} \\`,
    `  -H ${shellQuoted(`X-Api-Key: ${key}`)} \\`,
    `  --data-urlencode ${shellQuoted(`${family}=${entry}`)}`,
  ].join("\n");
}

export interface Sample {
  readonly name: "curl" | "TypeScript" | "Python" | "PHP";
  readonly text: string;
}

/** One check in four languages. */
export function checkSamples(baseUrl: string, key: string): readonly Sample[] {
  return [
    { name: "curl", text: curlOf(baseUrl, "jane@example.org", key) },
    { name: "TypeScript", text: TYPESCRIPT(baseUrl, key) },
    { name: "Python", text: PYTHON(baseUrl, key) },
    { name: "PHP", text: PHP(baseUrl, key) },
  ];
}

const TYPESCRIPT = (
  baseUrl: string,
  key: string,
): string => `const response = await fetch("${baseUrl}/api/email", {
  method: "POST",
  headers: { "X-Api-Key": "${key}" },
  body: new URLSearchParams({ email: "jane@example.org" }),
});
if (!response.ok) throw new Error(\`check is unavailable: \${response.status}\`);
const result = await response.json();
if (!result.format || result.disposable) console.log("Please use another address.");`;

const PYTHON = (baseUrl: string, key: string): string => `import json, urllib.parse, urllib.request

body = urllib.parse.urlencode({"email": "jane@example.org"}).encode()
request = urllib.request.Request(
    "${baseUrl}/api/email", data=body, headers={"X-Api-Key": "${key}"}
)
with urllib.request.urlopen(request, timeout=10) as response:
    result = json.load(response)
if not result["format"] or result["disposable"]:
    print("Please use another address.")`;

const PHP = (baseUrl: string, key: string): string => `<?php
$curl = curl_init("${baseUrl}/api/email");
curl_setopt_array($curl, [
    CURLOPT_POST => true,
    CURLOPT_POSTFIELDS => http_build_query(["email" => "jane@example.org"]),
    CURLOPT_HTTPHEADER => ["X-Api-Key: ${key}"],
    CURLOPT_RETURNTRANSFER => true,
    CURLOPT_TIMEOUT => 10,
]);
$result = json_decode(curl_exec($curl), true);
if (!$result["format"] || $result["disposable"]) {
    echo "Please use another address.";
}`;

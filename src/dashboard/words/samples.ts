import { curlOf, shellQuoted } from "./curl-samples.ts";

/** Ready-made code: curl, Node, Python, PHP. Each sample runs as it was copied. */

export interface Sample {
  readonly name: "curl" | "Node" | "Python" | "PHP";
  readonly text: string;
}

const EXAMPLE = "jane@example.org";

/** A literal of JavaScript, Python and PHP: PHP would read "$" as a variable in double quotes. */
export const quoted = (text: string): string =>
  `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'").replaceAll("\n", " ")}'`;

/**
 * One check in four languages. Each treats an answer that does not come as "not checked" and lets the person in.
 * Without a key the programs read it from the environment, and work without one, too.
 */
export function checkSamples(baseUrl: string, key?: string, entry = EXAMPLE): readonly Sample[] {
  return [
    { name: "curl", text: curlOf(baseUrl, entry, key) },
    { name: "Node", text: nodeSample(baseUrl, key, entry) },
    { name: "Python", text: pythonSample(baseUrl, key, entry) },
    { name: "PHP", text: phpSample(baseUrl, key, entry) },
  ];
}

const familyOf = (entry: string): string => (entry.includes("@") ? "email" : "domain");

function nodeSample(baseUrl: string, key: string | undefined, entry: string): string {
  const family = familyOf(entry);
  return `const key = ${key === undefined ? 'process.env.GATEPOST_KEY ?? ""' : quoted(key)};

// The result, or undefined when the check is unavailable.
async function check(${family}) {
  try {
    const response = await fetch("${baseUrl}/api/${family}", {
      method: "POST",
      headers: key === "" ? {} : { "X-Api-Key": key },
      body: new URLSearchParams({ ${family} }),
      signal: AbortSignal.timeout(3000),
    });
    return response.ok ? await response.json() : undefined;
  } catch {
    return undefined;
  }
}

check(${quoted(entry)}).then((result) => {
  // No result: let the person in.
  const isRefused = result !== undefined && (!result.format || result.disposable);
  console.log(isRefused ? "Please use another address." : "Welcome.");
});`;
}

function pythonSample(baseUrl: string, key: string | undefined, entry: string): string {
  const family = familyOf(entry);
  return `import json, os, urllib.parse, urllib.request

key = ${key === undefined ? 'os.environ.get("GATEPOST_KEY", "")' : quoted(key)}

def check(${family}):
    """The result, or None when the check is unavailable."""
    request = urllib.request.Request(
        "${baseUrl}/api/${family}",
        data=urllib.parse.urlencode({"${family}": ${family}}).encode(),
        headers={"X-Api-Key": key} if key else {},
    )
    try:
        with urllib.request.urlopen(request, timeout=3) as response:
            return json.load(response)
    except (OSError, ValueError):
        return None

result = check(${quoted(entry)})
# No result: let the person in.
is_refused = result is not None and (not result["format"] or result["disposable"])
print("Please use another address." if is_refused else "Welcome.")`;
}

function phpSample(baseUrl: string, key: string | undefined, entry: string): string {
  const family = familyOf(entry);
  return `<?php
$key = ${key === undefined ? 'getenv("GATEPOST_KEY") ?: ""' : quoted(key)};

// The result, or null when the check is unavailable.
function check(string $${family}, string $key): ?array {
    $headers = ["Content-Type: application/x-www-form-urlencoded"];
    if ($key !== "") $headers[] = "X-Api-Key: $key";
    $context = stream_context_create(["http" => [
        "method" => "POST",
        "header" => $headers,
        "content" => http_build_query(["${family}" => $${family}]),
        "timeout" => 3,
    ]]);
    // False for a status other than 200, and when no answer comes.
    $body = @file_get_contents("${baseUrl}/api/${family}", false, $context);
    $result = is_string($body) ? json_decode($body, true) : null;
    return is_array($result) ? $result : null;
}

$result = check(${quoted(entry)}, $key);
// No result: let the person in.
$isRefused = $result !== null && (!$result["format"] || $result["disposable"]);
echo $isRefused ? "Please use another address." : "Welcome.", "\\n";`;
}

/** The two lines that a page needs; the form works as before when the service is away. */
export const widgetSample = (baseUrl: string, key: string): string =>
  `<script src="${baseUrl}/widget.js" data-key="${key}" defer></script>

<input type="email" name="email" data-gatepost>`;

/** Sends a file of entries, one a line, and reads the result of its session. */
export function listSample(baseUrl: string, key?: string): string {
  const header = key === undefined ? "" : ` -H ${shellQuoted(`X-Api-Key: ${key}`)}`;
  return `printf '%s\\n' jane@example.org someone@mailinator.com > addresses.txt
answer=$(curl -s ${baseUrl}/api/email${header} --data-urlencode bulk=1 --data-urlencode email@addresses.txt)
session=$(printf '%s' "$answer" | sed 's/.*"session":"\\([0-9a-f]*\\)".*/\\1/')
curl -s ${baseUrl}/api/view/$session${header}`;
}

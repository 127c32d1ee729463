import { shellQuoted } from "./curl-samples.ts";
import { quoted, type Sample } from "./samples.ts";

/** Where the receivers listen, for a web server or a tunnel with https in front of them. */
export const RECEIVER_URL = "http://127.0.0.1:8787";

/** The environment variable that holds the secret where a sample does not. */
export const SECRET_VARIABLE = "GATEPOST_WEBHOOK_SECRET";

/**
 * Whole receivers of webhooks, and commands that send one a signed test. Each checks the signature and the age,
 * answers before it works, and works on a list once. `secret` is written into the code; without it each reads the
 * environment.
 */
export function receiverSamples(secret?: string): readonly Sample[] {
  return [
    { name: "Node", text: nodeReceiver(secret) },
    { name: "Python", text: pythonReceiver(secret) },
    { name: "PHP", text: phpReceiver(secret) },
    { name: "curl", text: signedTest(secret) },
  ];
}

const nodeReceiver = (
  secret?: string,
): string => `// Save as receiver.mjs and run: node receiver.mjs
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const secret = ${secret === undefined ? `process.env.${SECRET_VARIABLE} ?? ""` : quoted(secret)};

// Your work. It begins after the answer.
function work({ event, data }) {
  if (event !== "bulk.completed") return console.log(event);
  console.log(\`List \${data.session}: \${data.stats.valid} of \${data.stats.unique} are good.\`);
}

function isGenuine(body, header) {
  if (secret === "" || !/^[0-9a-f]{64}$/.test(header ?? "")) return false;
  const wanted = createHmac("sha256", secret).update(body).digest();
  return timingSafeEqual(wanted, Buffer.from(header, "hex"));
}

// The newest 10,000 lists, so that none is worked on twice.
const known = new Set();
function isNew({ event, data }) {
  if (event !== "bulk.completed") return true;
  if (known.has(data.session)) return false;
  if (known.size === 10000) known.delete(known.values().next().value);
  known.add(data.session);
  return true;
}

// The status to answer with, and the message when it is genuine.
async function read(request) {
  if (request.method !== "POST") return [405];
  const parts = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > 65536) return [413];
    parts.push(part);
  }
  const body = Buffer.concat(parts);
  if (!isGenuine(body, request.headers["x-service-signature"])) return [401];
  const message = JSON.parse(body);
  const isRecent = Math.abs(Date.now() - Date.parse(message.timestamp)) < 300000;
  return isRecent ? [200, message] : [400];
}

createServer(async (request, response) => {
  const [status, message] = await read(request).catch(() => [400]);
  response.writeHead(status).end();
  if (message !== undefined && isNew(message)) work(message);
}).listen(Number(process.env.PORT ?? 8787), "127.0.0.1");`;

const pythonReceiver = (
  secret?: string,
): string => `# Save as receiver.py and run: python3 receiver.py
import hashlib, hmac, json, os, re, threading, time
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

secret = ${secret === undefined ? `os.environ.get("${SECRET_VARIABLE}", "")` : quoted(secret)}

def work(message):
    """Your work. It begins after the answer."""
    data = message["data"]
    if message["event"] == "bulk.completed":
        print(f"List {data['session']}: {data['stats']['valid']} of {data['stats']['unique']} are good.", flush=True)
    else:
        print(message["event"], flush=True)

def is_genuine(body, header):
    if not secret or re.fullmatch(r"[0-9a-f]{64}", header or "") is None:
        return False
    wanted = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(wanted, header)

# The newest 10,000 lists, so that none is worked on twice.
known, lock = {}, threading.Lock()
def is_new(message):
    if message["event"] != "bulk.completed":
        return True
    with lock:
        if message["data"]["session"] in known:
            return False
        if len(known) == 10000:
            del known[next(iter(known))]
        known[message["data"]["session"]] = True
        return True

${PYTHON_SERVER}`;

const PYTHON_SERVER = `class Receiver(BaseHTTPRequestHandler):
    timeout = 10

    def read(self):
        """The status to answer with, and the message when it is genuine."""
        size = int(self.headers.get("Content-Length", ""))
        if not 0 <= size <= 65536:
            return 413, None
        body = self.rfile.read(size)
        if not is_genuine(body, self.headers.get("X-Service-Signature")):
            return 401, None
        message = json.loads(body)
        sent = datetime.fromisoformat(message["timestamp"].replace("Z", "+00:00")).timestamp()
        return (200, message) if abs(time.time() - sent) < 300 else (400, None)

    def do_POST(self):
        try:
            status, message = self.read()
        except (ValueError, KeyError, TypeError):
            status, message = 400, None
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()
        if message is not None and is_new(message):
            work(message)

ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8787"))), Receiver).serve_forever()`;

const phpReceiver = (secret?: string): string => `<?php
// Save as receiver.php and run: php -S 127.0.0.1:8787 receiver.php
$secret = ${secret === undefined ? `getenv("${SECRET_VARIABLE}") ?: ""` : quoted(secret)};

// Your work. It begins after the answer.
function work(array $message): void {
    $data = $message["data"];
    $isList = $message["event"] === "bulk.completed";
    error_log($isList
        ? "List {$data['session']}: {$data['stats']['valid']} of {$data['stats']['unique']} are good."
        : $message["event"]);
}

function is_genuine(string $body, string $header, string $secret): bool {
    if ($secret === "" || !preg_match('/\\A[0-9a-f]{64}\\z/', $header)) return false;
    return hash_equals(hash_hmac("sha256", $body, $secret), $header);
}

// The file of a list can be made once, so that none is worked on twice.
function is_new(array $message): bool {
    if ($message["event"] !== "bulk.completed") return true;
    $file = sys_get_temp_dir() . "/gatepost-" . hash("sha256", $message["data"]["session"]);
    return @fopen($file, "x") !== false;
}

$body = (string) file_get_contents("php://input", false, null, 0, 65537);
$message = null;
$status = 200;
if ($_SERVER["REQUEST_METHOD"] !== "POST") $status = 405;
elseif (strlen($body) > 65536) $status = 413;
elseif (!is_genuine($body, $_SERVER["HTTP_X_SERVICE_SIGNATURE"] ?? "", $secret)) $status = 401;
else {
    $message = json_decode($body, true);
    $sent = strtotime($message["timestamp"] ?? "");
    if ($sent === false || abs(time() - $sent) >= 300) $status = 400;
}
http_response_code($status);
header("Content-Length: 0");
header("Connection: close");
if (function_exists("fastcgi_finish_request")) fastcgi_finish_request();
else flush();
if ($status === 200 && is_new($message)) work($message);`;

const signedTest = (secret?: string): string => `${
  secret === undefined ? "" : `${SECRET_VARIABLE}=${shellQuoted(secret)}\n`
}now=$(date -u +%Y-%m-%dT%H:%M:%SZ)
body='{"event":"test.ping","timestamp":"'$now'","data":{"message":"Webhook endpoint verified."}}'
signature=$(printf '%s' "$body" | openssl dgst -sha256 -hmac "$${SECRET_VARIABLE}" | sed 's/.* //')
curl -i ${RECEIVER_URL} -H "X-Service-Signature: $signature" --data-binary "$body"`;

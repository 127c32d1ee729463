import { quoted, type Sample } from "./samples.ts";

/**
 * One sign-up decided by each client library. The library answers within its deadline whatever happens, and lets
 * the person in when the service is away. Without a key each reads the environment.
 */
export function librarySamples(
  baseUrl: string,
  key?: string,
  address = "jane@example.org",
): readonly Sample[] {
  const values = [quoted(baseUrl), key, quoted(address)] as const;
  return [
    { name: "Node", text: nodeLibrary(...values) },
    { name: "Python", text: pythonLibrary(...values) },
    { name: "PHP", text: phpLibrary(...values) },
  ];
}

const nodeLibrary = (url: string, key: string | undefined, address: string): string =>
  `// Save as library.mjs. Needs the package gatepost-client, the folder clients/typescript of Gatepost.
import { createGatepost } from "gatepost-client";

const gatepost = createGatepost({
  url: ${url},
  key: ${key === undefined ? "process.env.GATEPOST_KEY" : quoted(key)},
});

const { decision, message } = await gatepost.decide(${address});
const isAsked = decision === "challenge" || decision === "reject";
console.log(isAsked ? message : "Welcome.");`;

const pythonLibrary = (url: string, key: string | undefined, address: string): string =>
  `# Needs the package gatepost-client, the folder clients/python of Gatepost.
import os
from gatepost import Client

gatepost = Client(${url}, ${key === undefined ? 'os.environ.get("GATEPOST_KEY")' : quoted(key)})

answer = gatepost.decide(${address})
is_asked = answer.decision in ("challenge", "reject")
print(answer.message if is_asked else "Welcome.")`;

const phpLibrary = (url: string, key: string | undefined, address: string): string =>
  `<?php
// Needs the package gatepost/client, the folder clients/php of Gatepost.
require "vendor/autoload.php";

$gatepost = new Gatepost\\Client(${url}, ${key === undefined ? 'getenv("GATEPOST_KEY") ?: null' : quoted(key)});

$answer = $gatepost->decide(${address});
$isAsked = in_array($answer->decision, ["challenge", "reject"], true);
echo $isAsked ? $answer->message : "Welcome.", "\\n";`;

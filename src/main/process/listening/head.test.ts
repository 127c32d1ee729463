import { strict as assert } from "node:assert";
import type { IncomingMessage } from "node:http";
import { test } from "node:test";
import { headOf } from "./head.ts";

const HOST = ["Host", "a"];
const fields = (count: number, value = ""): readonly string[] =>
  Array.from({ length: count }, (_, at) => [`x${String(at)}`, value]).flat();

interface Sent {
  readonly url?: string;
  readonly rawHeaders?: readonly string[];
  readonly httpVersion?: string;
}

const seen = ({ url = "/", rawHeaders = HOST, httpVersion = "1.1" }: Sent) => {
  const { refusal, isChunked, isLong, weight } = headOf({
    url,
    rawHeaders,
    httpVersion,
  } as IncomingMessage);
  return `${String(refusal?.status ?? 200)}${isChunked ? " chunked" : ""}${isLong ? " long" : ""} ${String(weight)}`;
};

const HEADS: readonly (readonly [name: string, sent: Sent, seen: string])[] = [
  ["an ordinary one", {}, "200 1"],
  ["without a Host", { rawHeaders: [] }, "400 1"],
  ["HTTP/1.0 without a Host", { rawHeaders: [], httpVersion: "1.0" }, "200 1"],
  ["with two Hosts", { rawHeaders: [...HOST, ...HOST] }, "400 1"],
  [
    "with a body in chunks",
    { rawHeaders: [...HOST, "Transfer-Encoding", "chunked"] },
    "200 chunked 1",
  ],
  [
    "with a multipart body",
    { rawHeaders: [...HOST, "Content-Type", "multipart/form-data"] },
    "200 8",
  ],
  ["with another body", { rawHeaders: [...HOST, "Content-Type", "application/json"] }, "200 1"],
  ["with a target of 4 KiB", { url: "a".repeat(4_096) }, "200 2"],
  ["with a target of 16 KiB", { url: "a".repeat(16_384) }, "200 5"],
  ["with a longer target", { url: "a".repeat(16_385) }, "200 long 5"],
  ["with 100 fields", { rawHeaders: [...HOST, ...fields(99)] }, "200 1"],
  ["with 101 fields", { rawHeaders: [...HOST, ...fields(100)] }, "200 long 1"],
  ["with 16 KiB of fields", { rawHeaders: [...HOST, "x", "a".repeat(16_314)] }, "200 1"],
  ["with one octet more", { rawHeaders: [...HOST, "x", "a".repeat(16_315)] }, "431 1"],
];

for (const [name, sent, expected] of HEADS) {
  test(`a request head ${name}: ${expected}`, () => {
    assert.equal(seen(sent), expected);
  });
}

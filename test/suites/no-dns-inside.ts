// Runs in a network namespace that has loopback alone, and prints one JSON text: what a service without DNS answers.
import { gatepost, makeHome, startService } from "../e2e/service-process.ts";

const home = makeHome({ GATEPOST_DNS_SERVERS: "off" });
const made = gatepost(home, ["account", "create", "a@example.com", "--tier", "pro", "--json"]);
const { api_key: key } = JSON.parse(made.out) as { readonly api_key: string };
const service = await startService(home);
const auth = { "x-api-key": key };
const times: number[] = [];
let decision = "";
for (let at = 0; at < 200; at += 1) {
  const startMs = performance.now();
  decision = (await service.post("/api/decide", `email=jo@new-${String(at)}.com`, auth)).body;
  times.push(performance.now() - startMs);
}
const listed = (await service.post("/api/decide", "email=jo@mailinator.com", auth)).body;
const check = (await service.post("/api/email", "email=jo@new.com", auth)).body;
const names = Array.from({ length: 1_000 }, (_, at) => `jo@list-${String(at)}.com`).join("\n");
const list = (
  await service.post("/api/email", `bulk=1&json=1&email=${encodeURIComponent(names)}`, auth)
).body;
const ready = await service.get("/readyz");
const doctor = gatepost(
  { ...home, settings: { ...home.settings, PORT: new URL(service.url).port } },
  ["doctor", "--json"],
);
await service.stop();
home.remove();
const medianMs = times.sort((a, b) => a - b)[100];
const found = { medianMs, decision, listed, check, list, ready: ready.status, doctor };
process.stdout.write(JSON.stringify(found));

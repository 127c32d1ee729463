import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runOurs, runDnsperf, openLookup, median } from "./dns/measure.ts";
import { startNameServer } from "./dns/name-server.ts";
import { dnsperfInput, nameOf } from "./dns/names.ts";
const directory = mkdtempSync(join(tmpdir(), "gatepost-bench-dns-"));
const names = Array.from({ length: 100_000 }, (_, index) => nameOf(index));
const file = join(directory, "questions");
writeFileSync(file, dnsperfInput(names));
const server = await startNameServer(directory, { count: 200_000, port: 15353 });
if (server === undefined) throw new Error("none");
const ratios = [];
for (let i = 0; i < 4; i += 1) {
  const a = await runDnsperf(file, { port: server.port, outstanding: 100 });
  const lookup = openLookup(server.port);
  const b = await runOurs(names, lookup);
  lookup.close();
  ratios.push(b.perSecond / a.perSecond);
  process.stdout.write(`${JSON.stringify({ a, b: { ...b, unknown: b.unknown.length } })}\n`);
}
process.stdout.write(`${median(ratios)}\n`);
await server.stop();
rmSync(directory, { recursive: true });

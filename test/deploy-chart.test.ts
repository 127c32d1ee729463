import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { SETTINGS } from "../src/main/config.ts";
import { DEFAULT_LIMITS } from "../src/main/listen.ts";
import { filesIn, leavesOf, readText, readYaml } from "./deploy-files.ts";
import { hasTool } from "./require-tool.ts";

const CHART = "deploy/helm/gatepost";
const templates = filesIn(`${CHART}/templates`).map((path) => [path, readText(path)] as const);
const all = templates.map(([, text]) => text).join("\n");
const values = readYaml<object>(`${CHART}/values.yaml`);

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: unknown;
}

/** Paths that the schema names; what is free below a path ends it. */
function pathsOf({ properties }: Schema, path = ""): readonly string[] {
  if (properties === undefined) return [path];
  return Object.entries(properties).flatMap(([name, below]) =>
    pathsOf(below, path === "" ? name : `${path}.${name}`),
  );
}

/** "settings.tiers" of each `.Values.settings.tiers`. */
const used = new Set([...all.matchAll(/\.Values\.([\w.]+)/g)].map(([, path = ""]) => path));

const covers = (path: string, below: string): boolean =>
  below === path || below.startsWith(`${path}.`);

for (const [path, text] of templates) {
  test(`${path}: braces are balanced, blocks are closed, what it includes is defined`, () => {
    assert.equal(text.split("{{").length, text.split("}}").length);
    const actions = [...text.matchAll(/\{\{-? *(?!\/\*)(.*?) *-?\}\}/g)].map(
      ([, words = ""]) => words,
    );
    const opened = actions.filter((words) => /^(if|with|range|define) /.test(words));
    assert.equal(opened.length, actions.filter((words) => words === "end").length);
    for (const [, name = ""] of text.matchAll(/include "([^"]+)"/g)) {
      assert.ok(all.includes(`define "${name}"`), name);
    }
  });
}

test("every value that a template uses is in values.yaml, and every value there is used", () => {
  const leaves = leavesOf(values);
  const missing = [...used].filter((path) => !leaves.some((leaf) => covers(path, leaf)));
  assert.deepEqual(missing, []);
  const idle = leaves.filter((leaf) => ![...used].some((path) => covers(path, leaf)));
  assert.deepEqual(idle, []);
});

test("values.schema.json allows what values.yaml has, and nothing that it has not", () => {
  const schema = JSON.parse(readText(`${CHART}/values.schema.json`)) as Schema;
  const allowed = pathsOf(schema).filter((path) => path !== "global");
  const leaves = leavesOf(values);
  assert.deepEqual(
    leaves.filter((leaf) => !allowed.some((path) => covers(path, leaf))),
    [],
  );
  const free = new Set(["api.resources.claims", "worker.resources.claims"]);
  const idle = allowed.filter(
    (path) => !free.has(path) && !leaves.some((leaf) => covers(path, leaf)),
  );
  assert.deepEqual(idle, []);
});

test("every variable of the templates is a setting", () => {
  const names = [
    ...all.matchAll(/^ +(?:- name: )?([A-Z][A-Z0-9_]+)(?::|$)/gm),
    ...all.matchAll(/key: ([A-Z_]+)$/gm),
  ].map(([, name = ""]) => name);
  const settings = new Set<string>(Object.values(SETTINGS).map(({ name }) => name));
  assert.ok(names.length > 8);
  assert.deepEqual(
    names.filter((name) => !settings.has(name)),
    [],
  );
});

test("probes ask paths and ports that exist, and stopping has its time", () => {
  const probes = [...all.matchAll(/httpGet: \{ path: (\S+), port: (\w+) \}/g)];
  assert.equal(probes.length, 5);
  for (const [, path = "", port] of probes) {
    assert.ok(["/healthz", "/readyz"].includes(path));
    assert.equal(port, "http");
  }
  const graces = [...all.matchAll(/terminationGracePeriodSeconds: (\d+)/g)].map(([, text]) =>
    Number(text),
  );
  assert.equal(graces.length, 2);
  const preStopSeconds = Number(/sleep, "(\d+)"/.exec(all)?.[1]);
  for (const grace of graces) {
    assert.ok((grace - preStopSeconds) * 1_000 > DEFAULT_LIMITS.stopTimeoutMs);
  }
});

test("containers have no rights, and the image is the one of the chart's version", () => {
  for (const line of [
    "runAsNonRoot: true",
    "readOnlyRootFilesystem: true",
    "allowPrivilegeEscalation: false",
    "drop: [ALL]",
  ]) {
    assert.ok(all.includes(line), line);
  }
  const chart = readYaml<{ version: string; appVersion: string }>(`${CHART}/Chart.yaml`);
  const { version } = JSON.parse(readText("package.json")) as { readonly version: string };
  assert.deepEqual([chart.version, chart.appVersion], [version, version]);
});

test("helm lints and renders the chart, where there is a helm", (t) => {
  if (!hasTool("helm", "version")) {
    t.diagnostic("HELM IS NOT HERE: the chart was checked by the other tests, but never rendered.");
    return;
  }
  const chart = fileURLToPath(new URL(`../../${CHART}`, import.meta.url));
  const everything = [
    "ingress.enabled",
    "networkPolicy.enabled",
    "podMonitor.enabled",
    "api.autoscaling.enabled",
  ];
  const set = [
    ...everything.map((name) => `${name}=true`),
    "ingress.host=a.example",
    "existingSecret=s",
    "settings.tiers={}",
  ];
  const flags = set.flatMap((pair) => ["--set", pair]);
  execFileSync("helm", ["lint", "--strict", chart, ...flags]);
  const rendered = execFileSync("helm", ["template", "r", chart, ...flags], { encoding: "utf8" });
  for (const kind of [
    "Deployment",
    "Service",
    "Ingress",
    "HorizontalPodAutoscaler",
    "PodMonitor",
  ]) {
    assert.match(rendered, new RegExp(`^kind: ${kind}$`, "m"));
  }
});

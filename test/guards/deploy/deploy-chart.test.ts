import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { SETTINGS } from "../../../src/main/settings/config.ts";
import { DEFAULT_LIMITS } from "../../../src/main/process/listening/listen.ts";
import { filesIn, leavesOf, readText, readYaml } from "./deploy-files.ts";
import { hasTool } from "../../process/require-tool.ts";

const CHART = "deploy/helm/gatepost";
const templates = filesIn(`${CHART}/templates`).map((path) => [path, readText(path)] as const);
const all = templates.map(([, text]) => text).join("\n");
const values = readYaml<object>(`${CHART}/values.yaml`);

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: unknown;
}

/** Paths that the schema names; a free-form object ends a path. */
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
  test(`${path}: braces are balanced, blocks are closed, included templates are defined`, () => {
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

test("values.schema.json allows exactly what values.yaml has", () => {
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

/** Values that the schema limits to numbers, to an enumeration or to a pattern. */
const PLAIN =
  /replicas|[pP]ort|min|max|[uU]tilization|type|externalTrafficPolicy|imagePullPolicy|interval/;

test("text is quoted: a name such as true or 12 stays text", () => {
  const bare = [...all.matchAll(/^ *(?:- )?([\w./]+): \{\{-? (.*) \}\}$/gm)].filter(
    ([, key = "", words = ""]) => !PLAIN.test(key) && !/quote$|\.Chart\.|\.Service$/.test(words),
  );
  assert.deepEqual(
    bare.map(([line]) => line.trim()),
    [],
  );
});

test("settings.extra refuses names that the chart or the Secret sets", () => {
  const schema = readText(`${CHART}/values.schema.json`);
  const taken = /"propertyNames": .*?"enum": (\[.*?\])/s.exec(schema)?.[1] ?? "[]";
  const ofChart = [...all.matchAll(/^ +(?:- name: )?([A-Z][A-Z0-9_]+)(?::|$)/gm)];
  const ofSecret = readText(`${CHART}/values.yaml`).match(/A Secret in .*?\.\n/s)?.[0] ?? "";
  const set = [
    ...ofChart.map(([, name = ""]) => name),
    ...(ofSecret.match(/[A-Z]+_[A-Z_]+/g) ?? []),
  ];
  assert.deepEqual((JSON.parse(taken) as string[]).sort(), [...new Set(set)].sort());
});

test("probes use paths and ports that exist, and stopping has enough time", () => {
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

const chart = fileURLToPath(new URL(`../../../../${CHART}`, import.meta.url));
const helm = (...args: readonly string[]) => spawnSync("helm", args, { encoding: "utf8" });
const EVERYTHING = [
  // A helm built from source assumes Kubernetes 1.20.
  "--kube-version=1.27.0",
  '--set-json=settings.tiers="{}"',
  ...[
    "ingress.enabled=true",
    "networkPolicy.enabled=true",
    "podMonitor.enabled=true",
    "api.autoscaling.enabled=true",
    "ingress.host=a.example",
    "existingSecret=s",
  ].map((pair) => `--set=${pair}`),
];
const KINDS = [
  "ConfigMap",
  "Deployment",
  "HorizontalPodAutoscaler",
  "Ingress",
  "NetworkPolicy",
  "PodDisruptionBudget",
  "PodMonitor",
  "Service",
  "ServiceAccount",
];
const REFUSED = [
  ["no Secret", ["r"], /existingSecret/],
  ["an unknown value", ["r", ...EVERYTHING, "--set=api.replica=3"], /replica/],
  ["a setting of the chart's own", ["r", ...EVERYTHING, "--set=settings.extra.HOST=::1"], /HOST/],
  ["a release whose name is not valid for a Service", ["1.2", ...EVERYTHING], /release's name/],
] as const;

if (hasTool("helm", "version")) {
  test("helm lints the chart and renders every variant, with any valid release name", () => {
    const { stdout, status } = helm("lint", "--strict", chart, ...EVERYTHING);
    assert.equal(status, 0, stdout);
    for (const release of ["r", "null", "a".repeat(53)]) {
      const { stdout: rendered, stderr } = helm("template", release, chart, ...EVERYTHING);
      const kinds = [...rendered.matchAll(/^kind: (\w+)$/gm)].map(([, kind = ""]) => kind);
      assert.deepEqual([...new Set(kinds)].sort(), KINDS, stderr);
      assert.equal(rendered.match(/instance: (?!")/), null);
    }
  });

  for (const [what, args, word] of REFUSED) {
    test(`helm refuses ${what}`, () => {
      const [release, ...flags] = args;
      const { status, stderr } = helm("template", release, chart, ...flags);
      assert.equal(status, 1);
      assert.match(stderr, word);
    });
  }
} else {
  test("helm lints and renders the chart, if it is installed", (t) => {
    t.diagnostic("HELM IS NOT HERE: the chart was checked by the other tests, but never rendered.");
  });
}

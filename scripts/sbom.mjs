// The CycloneDX list of a release: what the packages need and what is inside them. `npm sbom --omit=dev` leaves out what a
// development dependency needs too, and names workspaces after their folders.
import { readFileSync } from "node:fs";

/** Package -> the part of the release that has it inside, by the notices that are packed with each part. */
function bundledIn(root) {
  const found = new Map();
  for (const [part, file] of [
    ["program", "dist/run/licenses.md"],
    ["dashboard", "dist/dashboard/licenses.md"],
    ["gatepost-light", "packages/light/NOTICES.md"],
  ]) {
    const notices = readFileSync(`${root}/${file}`, "utf8");
    for (const [, name] of notices.matchAll(/^## (@?[\w./-]+) (?:- )?\d\S*(?: \(.*\))?$/gm)) {
      found.set(name, [...(found.get(name) ?? []), part]);
    }
  }
  found.set("swagger-ui-dist", ["docs"]);
  found.set("@fontsource/source-serif-4", ["dashboard"]);
  return found;
}

/** A public list whose names are in the packages. */
const listComponent = ({ id, licence }) => ({
  "bom-ref": `list:${id}`,
  type: "data",
  name: id,
  licenses: [{ license: { id: licence.spdx } }],
  copyright: licence.copyright,
  externalReferences: [{ type: "website", url: licence.url }],
});

/** `all`: what `npm sbom --package-lock-only` gives; `lists`: the sources of the bundled lists. */
export function releaseSbom(all, { root, lists }) {
  const named = new Map();
  for (const each of all.components) {
    const purl = decodeURIComponent(each.purl.replace(/^pkg:npm\//, ""));
    named.set(each["bom-ref"], { ...each, name: purl.replace(/@[^@]*$/, "") });
  }
  const needs = new Map(all.dependencies.map(({ ref, dependsOn = [] }) => [ref, dependsOn]));
  const { name, dependencies } = JSON.parse(readFileSync(`${root}/package.json`, "utf8"));
  const own = ["gatepost-client", "gatepost-light"];
  const bundled = bundledIn(root);
  const wanted = new Set([...Object.keys(dependencies), ...own]);
  const main = all.metadata.component["bom-ref"];
  const kept = new Set();
  const open = [...needs.get(main)].filter((ref) => wanted.has(named.get(ref)?.name));
  while (open.length > 0) {
    const ref = open.pop();
    if (kept.has(ref) || !named.has(ref)) continue;
    kept.add(ref);
    // A workspace has development dependencies alone.
    if (!own.includes(named.get(ref).name)) open.push(...needs.get(ref));
  }
  const components = [...named].flatMap(([ref, each]) => {
    const parts = bundled.get(each.name);
    if (!kept.has(ref) && parts === undefined) return [];
    const properties = (parts ?? []).map((value) => ({ name: "gatepost:bundled-in", value }));
    return { ...each, properties };
  });
  const refs = new Set(components.map((each) => each["bom-ref"]));
  const withLicence = lists.filter(({ licence, bundled: isBundled }) => isBundled && licence);
  return {
    ...all,
    metadata: {
      ...all.metadata,
      component: { ...all.metadata.component, name, type: "application" },
    },
    components: [...components, ...withLicence.map(listComponent)],
    dependencies: [...needs]
      .filter(([ref]) => ref === main || refs.has(ref))
      .map(([ref, dependsOn]) => ({ ref, dependsOn: dependsOn.filter((one) => refs.has(one)) })),
  };
}

// Makes a Postman collection (v2.1.0) from an OpenAPI document:
//   curl -s http://127.0.0.1:8080/openapi.json | node scripts/postman.mjs > deploy/postman/gatepost.json
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const SCHEMA = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json";

/** One folder for each tag, one request for each operation; `baseUrl` and `apiKey` are variables. */
export function postmanCollection(document) {
  const folders = new Map();
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      const [tag = "other"] = operation.tags ?? [];
      folders.set(tag, [...(folders.get(tag) ?? []), requestOf(path, method, operation)]);
    }
  }
  return {
    info: {
      name: document.info.title,
      description: document.info.description ?? "",
      schema: SCHEMA,
    },
    auth: {
      type: "apikey",
      apikey: [
        { key: "key", value: "X-Api-Key" },
        { key: "value", value: "{{apiKey}}" },
        { key: "in", value: "header" },
      ],
    },
    variable: [
      { key: "baseUrl", value: "http://127.0.0.1:8080" },
      { key: "apiKey", value: "" },
    ],
    item: [...folders].map(([name, requests]) => ({ name, item: requests })),
  };
}

function requestOf(path, method, operation) {
  const { summary, description = "", parameters = [], requestBody } = operation;
  const of = (place) => parameters.filter((each) => each.in === place);
  const query = of("query").map((each) => ({ ...shown(each), disabled: !each.required }));
  const segments = path.slice(1).split("/");
  const url = {
    raw: `{{baseUrl}}${path.replaceAll(/\{(\w+)\}/g, ":$1")}`,
    host: ["{{baseUrl}}"],
    path: segments.map((segment) => segment.replace(/^\{(\w+)\}$/, ":$1")),
    ...(query.length > 0 && { query }),
    ...(of("path").length > 0 && { variable: of("path").map(shown) }),
  };
  const header = of("header").map((each) => ({ ...shown(each), disabled: !each.required }));
  const request = {
    method: method.toUpperCase(),
    description,
    header,
    url,
    ...bodyOf(requestBody),
  };
  return {
    name: summary,
    request: isOpen(operation) ? { ...request, auth: { type: "noauth" } } : request,
  };
}

/** No key is ever read. */
const isOpen = ({ security }) =>
  security !== undefined && security.every((each) => Object.keys(each).length === 0);

const shown = ({ name, description = "", example = "" }) => ({
  key: name,
  value: String(example),
  description,
});

/** JSON where it is possible, else a form, else a file. */
function bodyOf(requestBody) {
  const content = requestBody?.content ?? {};
  const json = content["application/json"];
  if (json !== undefined) {
    const raw = JSON.stringify(exampleOf(json), null, 2);
    return { body: { mode: "raw", raw, options: { raw: { language: "json" } } } };
  }
  const [[type, form] = []] = Object.entries(content);
  if (form === undefined) return {};
  const fields = Object.entries(form.schema?.properties ?? {});
  const isUpload = type === "multipart/form-data";
  const rows = fields.map(([key, { format, description = "" }]) => ({
    key,
    type: isUpload && format === "binary" ? "file" : "text",
    description,
  }));
  return {
    body: isUpload
      ? { mode: "formdata", formdata: rows }
      : { mode: "urlencoded", urlencoded: rows },
  };
}

const exampleOf = ({ example, examples = {} }) =>
  example ?? Object.values(examples)[0]?.value ?? {};

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const document = JSON.parse(readFileSync(0, "utf8"));
  process.stdout.write(`${JSON.stringify(postmanCollection(document), null, 2)}\n`);
}

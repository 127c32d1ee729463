import { register } from "node:module";

const plant: unknown = JSON.parse(process.env["SIM_PLANT"] ?? "null");
register("./hook.js", { parentURL: import.meta.url, data: plant });

// Exit code 0 if this container's process answers /healthz, otherwise 1. Uses the worker's port if
// GATEPOST_WORKER_PORT is set, otherwise the API's.
import { get } from "node:http";

const { HOST = "", PORT = "", GATEPOST_WORKER_PORT = "" } = process.env;
const everywhere = new Map([
  ["", "127.0.0.1"],
  ["0.0.0.0", "127.0.0.1"],
  ["::", "::1"],
]);
const host = everywhere.get(HOST) ?? HOST;
const port = Number(GATEPOST_WORKER_PORT || PORT || 8080);
const leave = (isWell) => process.exit(isWell ? 0 : 1);

get({ host, port, path: "/healthz", timeout: 3_000 }, ({ statusCode }) => leave(statusCode === 200))
  .on("timeout", () => leave(false))
  .on("error", () => leave(false));

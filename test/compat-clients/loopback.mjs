// Preloaded into the clients' process: connections to the services' hosts go to the loopback server with their names.
import net from "node:net";

const hosts = new Set(process.env["COMPAT_HOSTS"].split(","));
const port = Number(process.env["COMPAT_PORT"]);
const connect = net.Socket.prototype["connect"];

net.Socket.prototype.connect = function loopback(...args) {
  const normalized = Array.isArray(args[0]) ? args[0] : args;
  const [options] = normalized;
  if (hosts.has(options?.host)) normalized[0] = { ...options, host: "127.0.0.1", port };
  return Reflect.apply(connect, this, args);
};

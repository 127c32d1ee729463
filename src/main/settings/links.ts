import type { Config } from "./config.ts";

const ANY_ADDRESS: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

/** Whether links need GATEPOST_PUBLIC_URL, because no client can use the address that the service listens on. */
export const guessesPublicUrl = ({
  publicUrl,
  host,
}: Pick<Config, "publicUrl" | "host">): boolean => publicUrl === undefined && ANY_ADDRESS.has(host);

/** The base of links, without a trailing slash. */
export function publicUrlOf(config: Pick<Config, "publicUrl" | "host" | "port">): string {
  const host = ANY_ADDRESS.has(config.host) ? "localhost" : config.host;
  const name = host.includes(":") ? `[${host}]` : host;
  return config.publicUrl ?? `http://${name}:${String(config.port)}`;
}

/** The base of links, which is known for good once the service listens: port 0 takes any free one. */
export interface Links {
  readonly base: () => string;
  readonly listensOn: (port: number) => void;
}

export function createLinks(config: Pick<Config, "publicUrl" | "host" | "port">): Links {
  let base = publicUrlOf(config);
  return {
    base: () => base,
    listensOn(port) {
      base = publicUrlOf({ ...config, port });
    },
  };
}
